"""What a Python service does all day: parse, transform and print documents, keep some and forget others."""

import json
import re

DOCUMENTS = 60
RECORDS = 800
KEPT = 20


def document(number):
    return {
        "id": number,
        "records": [
            {"key": f"record-{number}-{i}", "tags": [f"tag{i % 7}", f"group{i % 13}"], "value": i * 1.5,
             "text": "lorem ipsum dolor sit amet " * (i % 5)}
            for i in range(RECORDS)
        ],
    }


def main():
    kept = []
    words = 0
    for number in range(DOCUMENTS):
        parsed = json.loads(json.dumps(document(number)))
        index = {record["key"]: record for record in parsed["records"]}
        words += sum(len(re.findall(r"\w+", record["text"])) for record in index.values())
        kept.append(sorted(index.values(), key=lambda record: (record["tags"], -record["value"])))
        if len(kept) > KEPT:
            del kept[number % KEPT]
    print(words)


main()
