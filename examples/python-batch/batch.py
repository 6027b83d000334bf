"""Enrols the candidates of a CSV file in a campaign, waits for their results and writes them to another CSV file."""

import argparse
import csv
import hashlib
import sys
import time

from attestry import AttestryClient, AttestryError

CANDIDATES_PER_CALL = 100
POLL_INTERVAL_SECONDS = 2
REQUIRED_COLUMNS = ("candidate_id", "name", "phone")
RESULT_COLUMNS = ("candidate_id", "name", "status", "reason", "qualified", "interest", "skills")


def open_file(path, mode):
    try:
        return open(path, mode, newline="", encoding="utf-8")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")


def read_candidates(path):
    with open_file(path, "r") as file:
        reader = csv.DictReader(file)
        missing = [column for column in REQUIRED_COLUMNS if column not in (reader.fieldnames or [])]
        if missing:
            sys.exit(f"{path}: the columns {', '.join(missing)} are missing; the first line must name them")
        return [
            {"external_candidate_id": row["candidate_id"], "name": row["name"], "phone": row["phone"]} for row in reader
        ]


def create_mandate(client, title, city, skill_ids):
    workflow = client.workflows.create({"name": f"Batch: {title}"[:100]})
    mandate = client.mandates.create(
        {
            "workflow_id": workflow["workflow_id"],
            "title": title,
            "company_name": "Metro Builders",
            "location": {"city": city},
            "skills": [{"skill_id": skill_id, "verify": True} for skill_id in skill_ids],
        }
    )
    while mandate["status"] == "preparing":
        time.sleep(POLL_INTERVAL_SECONDS)
        mandate = client.mandates.get(mandate["mandate_id"])
    if mandate["status"] != "ready":
        sys.exit(f"The questions could not be prepared: {mandate['status']}")
    return mandate["mandate_id"]


def enrol(client, mandate_id, candidates):
    """Enrols in batches. Each batch has a key made of its content, so that a second run of the same batch enrols nobody twice."""
    campaign_id = None
    for start in range(0, len(candidates), CANDIDATES_PER_CALL):
        batch = candidates[start : start + CANDIDATES_PER_CALL]
        key = hashlib.sha256(f"{mandate_id} {start} {batch}".encode()).hexdigest()
        if campaign_id is None:
            enrolled = client.campaigns.create({"mandate_id": mandate_id, "candidates": batch}, idempotency_key=key)
            campaign_id = enrolled["campaign"]["campaign_id"]
        else:
            enrolled = client.campaigns.enrol_candidates(campaign_id, {"candidates": batch}, idempotency_key=key)
        counts = enrolled["enrolment"]
        print(f"enrolled {counts['accepted']}, skipped {counts['duplicates']} duplicates", file=sys.stderr)
    return campaign_id


def wait_for_results(client, campaign_id, timeout_seconds):
    deadline = time.monotonic() + timeout_seconds
    while True:
        counts = client.campaigns.get(campaign_id)["counts"]
        print(f"{counts['pending']} of {counts['candidates']} candidates are pending", file=sys.stderr)
        if counts["pending"] == 0 or time.monotonic() > deadline:
            return list(client.results.list(campaign_id=campaign_id))
        time.sleep(POLL_INTERVAL_SECONDS)


def write_results(path, results):
    with open_file(path, "w") as file:
        writer = csv.writer(file)
        writer.writerow(RESULT_COLUMNS)
        for result in sorted(results, key=lambda each: each["candidate"]["external_candidate_id"]):
            candidate, output = result["candidate"], result["output"]
            skills = "; ".join(f"{skill['name']}: {skill['verdict']}" for skill in output.get("skills", []))
            qualified = {True: "yes", False: "no", None: ""}[output["qualified"]]
            writer.writerow(
                [
                    candidate["external_candidate_id"],
                    candidate["name"],
                    result["status"],
                    result["reason"] or "",
                    qualified,
                    output.get("interest") or "",
                    skills,
                ]
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("candidates", help="CSV file with the columns candidate_id, name and phone")
    parser.add_argument("results", help="CSV file to write")
    parser.add_argument("--mandate", help="ID of a mandate that is ready; without it, a new one is created")
    parser.add_argument("--title", default="Mason")
    parser.add_argument("--city", default="Pune")
    parser.add_argument("--skill", action="append", help="ID of a skill to verify; can be repeated (default: sk_1001)")
    parser.add_argument("--timeout", type=int, default=3600, metavar="SECONDS", help="default: 3600")
    arguments = parser.parse_args()
    candidates = read_candidates(arguments.candidates)
    client = AttestryClient()
    try:
        mandate_id = arguments.mandate or create_mandate(
            client, arguments.title, arguments.city, arguments.skill or ["sk_1001"]
        )
        campaign_id = enrol(client, mandate_id, candidates)
        results = wait_for_results(client, campaign_id, arguments.timeout)
    except AttestryError as error:
        sys.exit(f"{error}")
    write_results(arguments.results, results)
    print(f"wrote {len(results)} results to {arguments.results}; mandate {mandate_id}, campaign {campaign_id}")


if __name__ == "__main__":
    main()
