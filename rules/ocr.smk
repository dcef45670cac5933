"""OCR: the pages that need it, read once, folded into combined.md.

Inputs:  combined.md (its `ocr_pages`), the attachments
Outputs: <state>/_ocr/…, combined.md; queue and receipts below .shards

The queue is made anew whenever OCR is asked for: a checkpoint whose output exists is not looked
at again. Like extraction, no rule declares combined.md.
"""


rule ocr:
    """Read the pages that need it and fold them in; fails when pages are left undone."""
    input:
        queue=ocr_queue,
        merged=ocr_merged,
    log:
        "logs/ocr/ocr.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "ocr.py",
    shell:
        "{params.python:q} {params.script:q} --queue {input.queue:q} 2> >(tee {log:q} >&2)"


checkpoint queue_ocr:
    """Write the queue of pages and the rows of each job."""
    output:
        queue=f"{WORK}/ocr/{{gen}}/queue.jsonl",
    log:
        "logs/queue_ocr/{gen}.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "queue_ocr.py",
        settings=RUN.settings_file,
    message:
        "queue pages for OCR"
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " --queue {output.queue:q} 2> >(tee {log:q} >&2)"


rule ocr_shard:
    """Read the pages of one job into the write-once store."""
    input:
        queue=f"{WORK}/ocr/{{gen}}/queue.jsonl",
    output:
        receipt=f"{WORK}/ocr/{{gen}}/read/{{part}}.json",
    log:
        "logs/ocr_shard/{gen}.{part}.log",
    benchmark:
        "logs/ocr_shard/{gen}.{part}.tsv"
    conda:
        "../environment.yml"
    resources:
        gpu=1,
    params:
        python=PYTHON,
        script=SCRIPTS / "ocr_shard.py",
        settings=RUN.settings_file,
        rows=f"{WORK}/ocr/{{gen}}/rows/{{part}}.jsonl",
    message:
        "OCR job {wildcards.part}"
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " --rows {params.rows:q} --receipt {output.receipt:q} --log {log:q}"


rule merge_ocr_results:
    """Fold what the store holds into the combined.md that wait for it."""
    input:
        queue=f"{WORK}/ocr/{{gen}}/queue.jsonl",
        receipts=ocr_receipts,
    output:
        receipt=f"{WORK}/ocr/{{gen}}/merged.json",
    log:
        "logs/merge_ocr/{gen}.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "merge_ocr.py",
        settings=RUN.settings_file,
    message:
        "merge OCR results"
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " --queue {input.queue:q} --receipt {output.receipt:q} 2> >(tee {log:q} >&2)"


rule merge_ocr:
    """Fold in what the store holds by now (pulled from other hosts, say) without reading pages."""
    input:
        state_folder,
    log:
        "logs/merge_ocr/merge_ocr.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        python=PYTHON,
        script=SCRIPTS / "merge_ocr.py",
        settings=RUN.settings_file,
    shell:
        "{params.python:q} {params.script:q} --settings {params.settings:q}"
        " 2> >(tee {log:q} >&2)"
