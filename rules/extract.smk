"""Extraction: attachments and inline bodies into combined.md.

Inputs:  <state>/<docket>/<comment>/attachment_N.<ext>, bib.sqlite
Outputs: <state>/<docket>/<comment>/combined.md; receipts of shards below .shards

Shards declare only their receipts: Snakemake deletes the declared outputs of failed jobs, and
with them, after a while, the folders that lie around them.
"""


rule extract_all:
    """Write combined.md for every comment that has none (or that `redo` picks)."""
    input:
        config=ancient(RUN.config_file),
        receipts=extraction_receipts,


rule extract_shard:
    """Write combined.md for the pending comments of one stretch of the state folder."""
    output:
        receipt=f"{WORK}/extract/{{gen}}/{{docket}}/{{first}}..{{last}}.json",
    log:
        "logs/extract_shard/{docket}/{first}..{last}.{gen}.log",
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "extract_shard.py",
        settings=RUN.settings_file,
        redo=RUN.redo_text,
        progress=progress,
    message:
        "extract {wildcards.docket}, {wildcards.first} to {wildcards.last}"
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " --docket {wildcards.docket:q} --first {wildcards.first:q} --last {wildcards.last:q}"
        " --redo={params.redo:q} --progress {params.progress:q}"
        " --receipt {output.receipt:q} --log {log:q}"


rule extract_comment:
    """Write combined.md of one comment, asked for by its path."""
    input:
        comment_folder,
    output:
        combined=update(COMMENT / "combined.md"),
    log:
        "logs/extract_comment/{docket}/{comment}/extract.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "extract_comment.py",
        settings=RUN.settings_file,
    message:
        "extract {wildcards.docket}/{wildcards.comment}"
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " --combined {output.combined:q} --log {log:q}"
