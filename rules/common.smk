"""Configuration, paths and the plan. The only module with functions.

Inputs:  config, the state folder
Outputs: RUN (settings, plan, receipts), COMMENT and WORK as path patterns, input functions
"""

import os
import sys
from pathlib import Path

from snakemake.logging import logger

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from regcomments import workflow as run_logic
from regcomments.errors import UserError
from regcomments.live import is_terminal


def stop(error):
    """End the run with one clear line."""
    logger.error(f"error: {error}")
    raise SystemExit(2)


def is_dryrun():
    """Tell whether this run only previews."""
    return workflow.dryrun


def slots():
    """Tell how many jobs run at a time."""
    settings = workflow.resource_settings
    return settings.nodes or settings.cores or 1


def is_watched():
    """Tell whether people watch this run on a terminal."""
    return not (workflow.dryrun or workflow.remote_exec) and is_terminal()


def extraction_receipts(wildcards):
    """Return the receipts of all shards of pending comments."""
    try:
        return RUN.receipts()
    except UserError as error:
        stop(error)


def comment_folder(wildcards):
    """Check that the comment exists; it has no inputs that Snakemake should watch."""
    docket = Path(RUN.state, wildcards.docket)
    known = run_logic.is_folder(Path(RUN.state), wildcards.docket)
    if not (known and run_logic.is_folder(docket, wildcards.comment)):
        stop(
            f"there is no comment folder {RUN.state}/{wildcards.docket}/{wildcards.comment}"
        )
    return []


def state_folder(wildcards):
    """Check that the state folder exists; it has no inputs that Snakemake should watch."""
    try:
        run_logic.check_state(Path(RUN.state), config.get("docket"))
    except UserError as error:
        stop(error)
    return []


def ocr_queue(wildcards):
    """Return the queue of this run; a dry run previews what it would hold."""
    try:
        RUN.preview_ocr()
    except UserError as error:
        stop(error)
    return checkpoints.queue_ocr.get(gen=RUN.ocr_gen).output.queue


def ocr_merged(wildcards):
    """Return the receipt of the merge of this run."""
    return f"{WORK}/ocr/{RUN.ocr_gen}/merged.json"


def ocr_receipts(wildcards):
    """Return the receipts of all jobs in the queue."""
    queue = checkpoints.queue_ocr.get(gen=wildcards.gen).output.queue
    parts = run_logic.ocr_jobs(Path(queue))
    return [f"{WORK}/ocr/{wildcards.gen}/read/{part}.json" for part in parts]


def table_receipts(wildcards):
    """Return the receipts of all shards of files that were not searched for tables yet."""
    try:
        return RUN.table_receipts()
    except UserError as error:
        stop(error)


def progress(wildcards):
    """Return what a shard needs to tell the time left."""
    return RUN.progress()


try:
    RUN = run_logic.prepare(
        config,
        basedir=Path(workflow.basedir),
        dryrun=is_dryrun,
        say=logger.info,
        spawned=workflow.remote_exec,
        slots=slots,
        live=is_watched,
    )
except UserError as error:
    stop(error)

# `snakemake index` as typed: Snakemake itself refuses to run without -j or a profile that has it.
if (
    workflow.resource_settings.cores is None
    and workflow.resource_settings.nodes is None
):
    workflow.resource_settings.cores = os.cpu_count() or 1

PYTHON = sys.executable
SCRIPTS = Path(workflow.basedir) / "scripts"
COMMENT = Path(run_logic.pattern(RUN.state), "{docket}", "{comment}")
WORK = run_logic.pattern(RUN.work)


wildcard_constraints:
    docket=r"[^/._][^/]*",
    comment=r"[^/._][^/]*",
    first=r"[^/]+?",
    last=r"[^/]+",
    gen=r"\d+",
    part=r"\d+",


onstart:
    RUN.start()


onsuccess:
    RUN.finish()


onerror:
    RUN.finish()
