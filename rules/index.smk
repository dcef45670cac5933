"""Index and counts, rebuilt whenever they are asked for.

Inputs:  every combined.md
Outputs: <state>/_index.csv, _attachments.csv, their Parquet twins, _runs/failures.csv
"""


rule index:
    """Rebuild _index.csv and _attachments.csv."""
    input:
        state_folder,
    log:
        "logs/index/index.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        state=RUN.state,
    shell:
        "{params.python:q} -m regcomments index --state {params.state:q} 2> >(tee {log:q} >&2)"


rule stats:
    """Rebuild the index and print counts by status and reason."""
    input:
        state_folder,
    log:
        "logs/stats/stats.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        state=RUN.state,
    shell:
        "{params.python:q} -m regcomments stats --state {params.state:q} 2> >(tee {log:q} >&2)"


rule regrade:
    """Apply a changed grading rule to the stored page facts; only what changes is read again."""
    input:
        state_folder,
    log:
        "logs/regrade/regrade.log",
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "regrade.py",
        settings=RUN.settings_file,
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " 2> >(tee {log:q} >&2)"
