"""Frozen descriptions of what is planned: model, accelerator, engine, workload, objectives, levers. No I/O."""
