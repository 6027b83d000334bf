// Renders the Helm chart for the tests, on machines without Helm: Go templates with the functions of Sprig, which Helm uses too.
// Prints the Kubernetes objects as a JSON list. Uses the Debian packages golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run main.go CHART_FOLDER VALUES_JSON
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: main.go CHART_FOLDER VALUES_JSON"))
	}
	folder := os.Args[1]
	values := readYaml(filepath.Join(folder, "values.yaml"))
	overrides := map[string]interface{}{}
	if err := json.Unmarshal([]byte(os.Args[2]), &overrides); err != nil {
		fail(err)
	}
	merge(values, overrides)
	chart := readYaml(filepath.Join(folder, "Chart.yaml"))
	data := map[string]interface{}{
		"Values":  values,
		"Release": map[string]interface{}{"Name": "demo", "Namespace": "default", "Service": "Helm"},
		"Chart": map[string]interface{}{
			"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"],
		},
	}
	objects := []interface{}{}
	for _, text := range render(filepath.Join(folder, "templates"), data) {
		decoder := yaml.NewDecoder(strings.NewReader(text))
		for {
			var object map[string]interface{}
			err := decoder.Decode(&object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				fail(fmt.Errorf("%w in:\n%s", err, text))
			}
			if object != nil {
				objects = append(objects, object)
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(objects); err != nil {
		fail(err)
	}
}

func render(folder string, data interface{}) []string {
	root := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = toYaml
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	functions["include"] = func(name string, argument interface{}) (string, error) {
		var output bytes.Buffer
		err := root.ExecuteTemplate(&output, name, argument)
		return output.String(), err
	}
	root.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		fail(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			fail(err)
		}
		if _, err := root.New(filepath.Base(file)).Parse(string(text)); err != nil {
			fail(err)
		}
	}
	texts := []string{}
	for _, file := range files {
		var output bytes.Buffer
		if err := root.ExecuteTemplate(&output, filepath.Base(file), data); err != nil {
			fail(err)
		}
		if strings.HasSuffix(file, ".yaml") {
			texts = append(texts, output.String())
		}
	}
	return texts
}

func toYaml(value interface{}) (string, error) {
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}

func merge(values, overrides map[string]interface{}) {
	for key, override := range overrides {
		inner, isMap := override.(map[string]interface{})
		current, wasMap := values[key].(map[string]interface{})
		if isMap && wasMap {
			merge(current, inner)
		} else {
			values[key] = override
		}
	}
}

func readYaml(file string) map[string]interface{} {
	text, err := os.ReadFile(file)
	if err != nil {
		fail(err)
	}
	content := map[string]interface{}{}
	if err := yaml.Unmarshal(text, &content); err != nil {
		fail(fmt.Errorf("%s: %w", file, err))
	}
	return content
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
