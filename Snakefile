"""Public comments on federal rules, attachments included, as text.

Paths
    <state>/<docket>/<comment>/attachment_N.<ext>   input, never written by us
    <state>/<docket>/<comment>/combined.md          the product: it exists, so it is done
    <state>/_ocr/<aa>/<sha256>.<engine>.json        write-once OCR results by file content
    <state>/_index.csv, _attachments.csv, …         rebuilt by `index` and `stats`
    .shards/<state key>/…                           receipts of batch jobs, in this folder

Targets
    extract_all   combined.md for every comment that has none
    ocr           read the pages that need it, fold them into combined.md
    merge_ocr     fold in OCR results that arrived from other hosts
    tables        cells with addresses: tables.json beside files, _cells.parquet
    regrade       apply a changed grading rule to the stored page facts
    index         _index.csv and _attachments.csv
    stats         the same, and counts by status and reason
    <state>/<docket>/<comment>/combined.md          one comment
"""

from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")


configfile: Path(workflow.basedir) / "config" / "config.yaml"


include: "rules/common.smk"
include: "rules/extract.smk"
include: "rules/ocr.smk"
include: "rules/tables.smk"
include: "rules/index.smk"
