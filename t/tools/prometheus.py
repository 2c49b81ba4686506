#!/usr/bin/env python3

"""What contrib/prometheus and contrib/grafana ask for.

prometheus.py metrics <file>...      names in expressions of rules and boards
prometheus.py expressions <board>    a line of JSON for each expression of a board:
                                     panel, expression, labels that its legend names
prometheus.py runbooks <rules>       the pages that alerts name
prometheus.py mutants <rules> <tests> <directory>
                                     for each alert two files of tests, one of a rule
                                     that always fires and one of a rule that never
                                     does, which promtool must refuse; and one of the
                                     rule as it is
"""

import copy
import json
import os
import re
import sys

import yaml


def alerts(rules):
    with open(rules) as file:
        for group in yaml.safe_load(file)["groups"]:
            yield from group["rules"]


def panels(board):
    for panel in board:
        yield panel
        yield from panels(panel.get("panels", []))


def expressions(name):
    with open(name) as file:
        board = json.load(file)

    for panel in panels(board["panels"]):
        for target in panel.get("targets", []):
            yield (panel["title"], target["expr"],
                   *re.findall(r"{{(\w+)}}", target["legendFormat"]))

    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield "variable " + variable["name"], variable["query"]["query"]

    for annotation in board["annotations"]["list"]:
        if "expr" in annotation:
            yield "annotation " + annotation["name"], annotation["expr"]


def metrics(files):
    names = set()

    for name in files:
        if name.endswith(".json"):
            found = [row[1] for row in expressions(name)]
        else:
            found = [alert["expr"] for alert in alerts(name)]

        for expr in found:
            names.update(re.findall(r"\bsubmission_\w+", expr))

    return sorted(names)


def mutants(rules, tests, directory):
    with open(tests) as file:
        book = yaml.safe_load(file)

    for alert in alerts(rules):
        name = alert["alert"]
        cases = [test for test in book["tests"]
                 if test["alert_rule_test"][0]["alertname"] == name]
        fires = [bool(rule["exp_alerts"]) for test in cases
                 for rule in test["alert_rule_test"]]

        if True not in fires or False not in fires:
            sys.exit(f"{name}: no case that fires, or none that does not")

        # labels as the alert has them, so that only the time is wrong

        labels = next(rule["exp_alerts"][0]["exp_labels"] for test in cases
                      for rule in test["alert_rule_test"] if rule["exp_alerts"])
        always = "vector(1)"

        for key, value in labels.items():
            always = f'label_replace({always}, "{key}", "{value}", "", "")'

        for kind, expr in (("as-is", alert["expr"]), ("always", always),
                           ("never", "vector(1) > 2")):
            rule = dict(copy.deepcopy(alert), expr=expr)
            base = os.path.join(directory, f"{name}.{kind}")

            with open(base + ".rules.yml", "w") as file:
                yaml.safe_dump({"groups": [{"name": "one", "rules": [rule]}]},
                               file)

            with open(base + ".yml", "w") as file:
                yaml.safe_dump(dict(book, tests=cases,
                                    rule_files=[base + ".rules.yml"]), file)

        print(name)


def main(args):
    if args[:1] == ["metrics"] and len(args) > 1:
        print("\n".join(metrics(args[1:])))
    elif args[:1] == ["expressions"] and len(args) == 2:
        for row in expressions(args[1]):
            print(json.dumps(row))
    elif args[:1] == ["runbooks"] and len(args) == 2:
        for alert in alerts(args[1]):
            print(alert["annotations"]["runbook_url"].replace(
                "{{ $externalLabels.submission_docs }}", "docs"))
    elif args[:1] == ["mutants"] and len(args) == 4:
        mutants(*args[1:])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
