"""Airflow 3: converts every night what is new or changed, then verifies what is there.

A retry is safe: what is converted stays, and what an attempt was at work on when it ended is begun again. Exit code 4
(an input is damaged or unreadable; all the others are converted) ends the task as skipped for people to look at, any other
as failed. Do not use --on-bad-input fail here: 4 then means that nothing is converted.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

TRACES = "/srv/traces"
OUT = "/srv/parquet"

CONVERT = (
    f"etl2parquet convert {TRACES} --output {OUT} --if-exists update"
    f" --summary {OUT}/last-run.json --progress never"
)
VERIFY = f"etl2parquet verify {OUT} --quick"

with DAG(
    dag_id="etl2parquet",
    description="ETW traces to Parquet",
    schedule="30 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # A second run at the same time would do nothing twice, and end with 8 where the first is still at work.
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    convert = BashOperator(
        task_id="convert",
        bash_command=CONVERT,
        skip_on_exit_code=4,
        execution_timeout=timedelta(hours=8),
    )
    verify = BashOperator(task_id="verify", bash_command=VERIFY, trigger_rule="all_done")
    convert >> verify
