"""What the Snakefile asks for: checked configuration, the plan, receipts, the closing summary.

No Snakemake in here: rules/common.smk hands in the targets and a way to print.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regcomments import layout
from regcomments.atomic import write_atomic
from regcomments.config import Settings, check_config, make_settings
from regcomments.errors import UserError
from regcomments.names import quote_name, stretch_name, work_of_state
from regcomments.plan import Plan, PlanOptions, make_plan, preview
from regcomments.redo import parse_redo

if TYPE_CHECKING:
    from regcomments.live import Live
    from regcomments.tables.run import TableShard

# Old receipts tell what the last runs did; more of them only cost scans.
KEPT_GENERATIONS = 3
DEFAULT_BIB = "bib.sqlite"
# Set for the jobs of a run, on other hosts too: the path of its settings, and Run.progress().
SETTINGS_VARIABLE = "REGCOMMENTS_RUN_SETTINGS"
PROGRESS_VARIABLE = "REGCOMMENTS_RUN_PROGRESS"
# How many jobs run at a time, for the job that cuts the OCR queue (ocr/plan.py reads it).
SLOTS_VARIABLE = "REGCOMMENTS_RUN_SLOTS"


@dataclass
class Run:
    """One invocation of Snakemake: what its rules interpolate.

    Plans are made when a rule asks for its inputs, thus only for targets that need them, once.
    `dryrun` tells whether this run only previews, `say` prints a line for people, `spawned` tells
    that Snakemake was started by another one to do one of its jobs, as on the nodes of a cluster,
    `slots` how many jobs run at a time, `live` that people watch it on a terminal.
    """

    config: Mapping[str, Any]
    config_file: str
    state: str
    work: str
    settings: Settings
    dryrun: Callable[[], bool]
    say: Callable[[str], None]
    spawned: bool = False
    slots: Callable[[], int] = lambda: 1
    live: Callable[[], bool] = lambda: False
    started: float = field(default_factory=time.time)

    @property
    def settings_file(self) -> str:
        """Path of the settings as JSON, named by their content.

        A job on another host reads the Snakefile again; it takes the settings with which its run
        began, although somebody may have edited the configuration since.
        """
        if self.spawned and SETTINGS_VARIABLE in os.environ:
            return os.environ[SETTINGS_VARIABLE]
        digest = hashlib.sha256(self.settings.to_json().encode()).hexdigest()[:12]
        return f"{self.work}/settings-{digest}.json"

    @property
    def redo_text(self) -> str:
        """The config key `redo`, empty when there is nothing to redo."""
        return self.config.get("redo") or ""

    @cached_property
    def gen(self) -> str:
        """Generation of this run's extraction receipts."""
        return next_generation(Path(self.work, "extract"))

    @cached_property
    def ocr_gen(self) -> str:
        """Generation of this run's OCR queue and receipts."""
        return next_generation(Path(self.work, "ocr"))

    @cached_property
    def plan(self) -> Plan:
        """The shards of extraction. Raises UserError for a missing state folder or docket."""
        state = Path(self.state)
        check_state(state, self.config.get("docket"))
        redo = parse_redo(self.config.get("redo"))
        check_bib(self.settings, self.say)
        options = plan_options(self.config, redo)
        plan = make_plan(state, replace(options, slots=self.slots(), stale=self.dryrun()))
        for line in preview(plan):
            self.say(line)
        return plan

    def preview_ocr(self) -> None:
        """Check that OCR can run; in a dry run tell what the queue would hold. Raises UserError."""
        if "_ocr_checked" in self.__dict__:
            return
        self.__dict__["_ocr_checked"] = True
        from regcomments.ocr.engines import make
        from regcomments.ocr.plan import plan_ocr

        check_state(Path(self.state), self.config.get("docket"))
        if self.dryrun():
            for line in plan_ocr(self.settings).lines():
                self.say(line)
        else:
            make({"ocr": self.settings.ocr, "host": self.settings.host}).close()

    def progress(self) -> str:
        """Comments planned and the epoch second of the start, for progress lines."""
        plan = self.__dict__.get("plan")
        here = f"{plan.comments if plan else 0},{self.started:.0f}"
        return os.environ.get(PROGRESS_VARIABLE, here) if self.spawned else here

    def receipts(self) -> list[str]:
        """Receipts of the shards in the plan."""
        return [
            f"{self.work}/extract/{self.gen}/{stretch_name(shard.docket, shard.through)}/"
            f"{quote_name(shard.first)}..{quote_name(shard.last)}.json"
            for shard in self.plan.shards
        ]

    @cached_property
    def tables_gen(self) -> str:
        """Generation of this run's receipts of table shards."""
        return next_generation(Path(self.work, "tables"))

    @cached_property
    def table_shards(self) -> list[TableShard]:
        """The shards of files to search for tables. Raises UserError."""
        from regcomments.tables.run import plan_tables

        check_state(Path(self.state), self.config.get("docket"))
        shards = plan_tables(Path(self.state), self.config.get("docket"))
        files = sum(shard.files for shard in shards)
        self.say(f"to search for tables: {files} files, {len(shards)} shards")
        return shards

    def table_receipts(self) -> list[str]:
        """Receipts of the table shards."""
        return [
            f"{self.work}/tables/{self.tables_gen}/{quote_name(shard.docket)}/"
            f"{quote_name(shard.first)}..{quote_name(shard.last)}.json"
            for shard in self.table_shards
        ]

    def start(self) -> None:
        """Prepare the work folder: settings for jobs, old receipts swept."""
        Path(self.work).mkdir(parents=True, exist_ok=True)
        write_atomic(Path(self.settings_file), self.settings.to_json())
        os.environ[SETTINGS_VARIABLE] = os.path.abspath(self.settings_file)
        os.environ[PROGRESS_VARIABLE] = self.progress()
        os.environ[SLOTS_VARIABLE] = str(self.slots())
        for kind in ("extract", "ocr", "tables"):
            for old in generations(Path(self.work, kind))[:-KEPT_GENERATIONS]:
                shutil.rmtree(Path(self.work, kind, old), ignore_errors=True)

        plan = self.__dict__.get("plan")
        if plan is not None and plan.shards and self.live():
            self.__dict__["_block"] = self._draw_progress(plan)

    def _draw_progress(self, plan: Plan) -> Live:
        from regcomments.live import Live
        from regcomments.progress import LIVE_VARIABLE, Receipts, board

        os.environ[LIVE_VARIABLE] = "1"
        receipts = Receipts(Path(self.work, "extract", self.gen))
        return Live(lambda: board(receipts, plan.comments, self.started))

    def finish(self) -> None:
        """Print the summary of what this run extracted."""
        from regcomments.progress import read_receipts, summary_lines

        if "_block" in self.__dict__:
            self.__dict__["_block"].stop()
        plan = self.__dict__.get("plan")
        if plan is not None and plan.shards:
            done = read_receipts(Path(self.work, "extract", self.gen), running=True)
            for line in summary_lines(done):
                self.say(line)


def prepare(
    config: dict[str, Any],
    *,
    basedir: Path,
    dryrun: Callable[[], bool],
    say: Callable[[str], None],
    spawned: bool = False,
    slots: Callable[[], int] = lambda: 1,
    live: Callable[[], bool] = lambda: False,
) -> Run:
    """Check `config` and return the run it describes. Raises UserError."""
    check_config(config, basedir / "config" / "config.schema.yaml")
    if config["bib"] == DEFAULT_BIB and not os.path.lexists(DEFAULT_BIB):
        # Nobody named it: the texts of the attachments need not wait for it.
        config["bib"] = "none"
    state = os.path.normpath(config["state"])
    return Run(
        config=config,
        config_file=str(basedir / "config" / "config.yaml"),
        state=state,
        work=work_of_state(state),
        settings=make_settings({**config, "state": state}, *host_facts(config, basedir)),
        dryrun=dryrun,
        say=say,
        spawned=spawned,
        slots=slots,
        live=live,
    )


def plan_options(config: Mapping[str, Any], redo: Any) -> PlanOptions:
    """Return what a checked configuration says about the plan."""
    shard = config.get("shard", {})
    return PlanOptions(
        docket=config.get("docket"),
        limit=config.get("limit"),
        redo=redo,
        shard_comments=shard.get("comments", PlanOptions.shard_comments),
        shard_bytes=shard["mb"] << 20 if "mb" in shard else PlanOptions.shard_bytes,
        settle_seconds=config.get("settle_seconds", 0),
    )


def check_state(state: Path, docket: str | None) -> None:
    """Raise UserError when the state folder, or the docket asked for, isn't there."""
    if not state.is_dir():
        raise UserError(
            f"there is no state folder {state}: give the folder of dockets with --config state=DIR"
        )
    if docket is not None and not is_folder(state, docket):
        close = difflib.get_close_matches(docket, layout.dockets(state), n=3)
        hint = f"; close to it: {', '.join(close)}" if close else ""
        raise UserError(f"there is no docket {docket} in {state}{hint}")


def check_bib(settings: Settings, say: Callable[[str], None]) -> None:
    """Raise BibError when the database of bodies can't serve; say it when there is none at all.

    Comments read without it are `inline: missing`, and `redo=inline` reads them again later.
    """
    from regcomments.bib import open_bib

    if settings.bib == "none":
        say(
            f"no database of inline bodies (bib is none, or there is no {DEFAULT_BIB} here): "
            "comments will say `inline: missing`; later give --config bib=FILE redo=inline"
        )
        return
    columns = settings.bib_columns
    open_bib(
        Path(settings.bib), table=columns.table, id_column=columns.id, body_column=columns.body
    ).close()


def host_facts(
    config: Mapping[str, Any], basedir: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the facts of the GPU host that the profile names, and those of all hosts.

    Without a host the first is empty. Raises UserError when there is no such host file, or one
    isn't usable.
    """
    from regcomments.hosts import load_facts

    name = config.get("host")
    facts = {found["name"]: found for found in load_facts(basedir / "config" / "hosts")}
    if not name:
        return {}, list(facts.values())
    if name not in facts:
        raise UserError(f"host: there is no {name}.yaml in config/hosts; known: {', '.join(facts)}")
    return facts[name], list(facts.values())


def ocr_jobs(queue: Path) -> list[str]:
    """Return the names of the OCR jobs written beside `queue`."""
    from regcomments.ocr.plan import job_names

    return job_names(queue)


def pattern(path: str) -> str:
    """Return `path` with braces doubled, so that Snakemake sees no wildcard in it."""
    return path.replace("{", "{{").replace("}", "}}")


def generations(folder: Path) -> list[str]:
    """Return the generation folders below `folder`, oldest first."""
    if not folder.is_dir():
        return []
    return sorted((item.name for item in folder.iterdir() if item.name.isdigit()), key=int)


def next_generation(folder: Path) -> str:
    """Return a generation newer than every one on disk, so that no old receipt hides work."""
    names = generations(folder)
    return f"{int(names[-1]) + 1 if names else 1:04d}"


def is_folder(parent: Path, name: str) -> bool:
    """True when `name` is a docket or comment folder in `parent`; a symbolic link is none."""
    path = parent / name
    return layout.is_item_name(name) and path.is_dir() and not path.is_symlink()
