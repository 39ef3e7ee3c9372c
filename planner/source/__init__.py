"""Text to Document: YAML 1.2 with the position of every node, `extends`, limits. Knows no domain.

load(path)            a file to a Document, or findings
parse(text)           the same from text, parse_bytes(data) from bytes
merge(document, map)  an overlay over a document, as `extends` merges
set_value(document, "/pointer=value"), set_values(document, several)
assignment_problem(text)  why a text is no assignment, whatever the document
resolve(reference, location, document)   a file that a spec refers to
expand(paths)         files and folders of a command line to files
"""

from planner.source.arguments import STDIN, expand
from planner.source.document import Document, NodePath
from planner.source.faults import COULD_NOT_JUDGE
from planner.source.files import LARGEST_BYTES
from planner.source.loading import load, parse, parse_bytes
from planner.source.overlay import merge
from planner.source.project import find_root, resolve, root_of
from planner.source.setting import assignment_problem, set_value, set_values

__all__ = [
    "COULD_NOT_JUDGE",
    "LARGEST_BYTES",
    "STDIN",
    "Document",
    "NodePath",
    "assignment_problem",
    "expand",
    "find_root",
    "load",
    "merge",
    "parse",
    "parse_bytes",
    "resolve",
    "root_of",
    "set_value",
    "set_values",
]
