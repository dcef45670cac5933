"""Tables as cells with addresses. Never part of extraction: only when asked for.

Inputs:  <state>/<docket>/<comment>/attachment_N.pdf, .docx
Outputs: attachment_N.<ext>.tables.json beside files with tables, <state>/_cells.parquet
"""


rule tables:
    """Find the tables of every PDF and DOCX and gather their cells."""
    input:
        receipts=table_receipts,
    log:
        "logs/tables/tables.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "tables.py",
        state=RUN.state,
    shell:
        "{params.python:q} {params.script:q} --state {params.state:q} 2> >(tee {log:q} >&2)"


rule tables_shard:
    """Find the tables in the files of one stretch of a docket."""
    output:
        receipt=f"{WORK}/tables/{{gen}}/{{docket}}/{{first}}..{{last}}.json",
    log:
        "logs/tables_shard/{docket}/{first}..{last}.{gen}.log",
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "tables_shard.py",
        settings=RUN.settings_file,
    message:
        "tables of {wildcards.docket}, {wildcards.first} to {wildcards.last}"
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " --docket {wildcards.docket:q} --first {wildcards.first:q} --last {wildcards.last:q}"
        " --receipt {output.receipt:q} --log {log:q}"
