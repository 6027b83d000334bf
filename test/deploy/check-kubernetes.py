"""Checks Kubernetes objects, a JSON list on standard input, against the models of the Kubernetes client (Debian: python3-kubernetes).

Prints one line for each unknown field, missing required field and value of a wrong type. Exits with code 1 if there is one.
"""

import json
import re
import sys

from kubernetes.client import Configuration, models

SCALARS = {"str": str, "bool": bool, "int": int, "float": (int, float)}


def model_name(api_version, kind):
    group, _, version = api_version.rpartition("/")
    name = version.capitalize() + kind
    # Older clients have autoscaling/v2 only under the name of its last beta, which has the same fields.
    if not hasattr(models, name) and group == "autoscaling":
        name = "V2beta2" + kind
    return name


def check(value, type_name, path, errors):
    list_match = re.match(r"list\[(.*)\]$", type_name)
    dict_match = re.match(r"dict\(str, (.*)\)$", type_name)
    if list_match:
        if not isinstance(value, list):
            errors.append(f"{path}: expected a list")
        else:
            for index, item in enumerate(value):
                check(item, list_match[1], f"{path}[{index}]", errors)
    elif dict_match:
        if not isinstance(value, dict):
            errors.append(f"{path}: expected an object")
        else:
            for key, item in value.items():
                check(item, dict_match[1], f"{path}.{key}", errors)
    elif type_name in SCALARS:
        is_bool = isinstance(value, bool)
        if not isinstance(value, SCALARS[type_name]) or (is_bool and type_name != "bool"):
            errors.append(f"{path}: expected {type_name}, got {value!r}")
    elif hasattr(models, type_name):
        check_model(value, getattr(models, type_name), path, errors)


def check_model(value, model, path, errors):
    if not isinstance(value, dict):
        errors.append(f"{path}: expected an object")
        return
    names = {json_name: name for name, json_name in model.attribute_map.items()}
    arguments = {}
    for key, item in value.items():
        if key not in names:
            errors.append(f"{path}.{key}: unknown field")
            continue
        check(item, model.openapi_types[names[key]], f"{path}.{key}", errors)
        arguments[names[key]] = item
    try:
        configuration = Configuration()
        configuration.client_side_validation = True
        model(**arguments, local_vars_configuration=configuration)
    except ValueError as error:
        errors.append(f"{path}: {error}")


all_errors = []
for item in json.load(sys.stdin):
    name = model_name(item["apiVersion"], item["kind"])
    if not hasattr(models, name):
        all_errors.append(f"{item['kind']}: the client has no model {name}")
    else:
        check_model(item, getattr(models, name), f"{item['kind']} {item['metadata']['name']}", all_errors)
print("\n".join(all_errors))
sys.exit(1 if all_errors else 0)
