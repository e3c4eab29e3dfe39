package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is what this test knows of Kubernetes' objects.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Replicas    int
		ServiceName string `yaml:"serviceName"`
		Selector    struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
				Containers                    []container
			}
		}
	}
}

type container struct {
	Name    string
	Args    []string
	Env     []struct{ Name string }
	EnvFrom []struct {
		SecretRef struct{ Name string } `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Ports []struct {
		ContainerPort uint16 `yaml:"containerPort"`
		HostPort      uint16 `yaml:"hostPort"`
		Protocol      string
	}
	ReadinessProbe struct {
		HTTPGet struct {
			Path string
			Port uint16
		} `yaml:"httpGet"`
	} `yaml:"readinessProbe"`
}

// expand puts in what Kubernetes puts in for a pod's variables, and checks that they are declared.
func (c *container) expand(t *testing.T, vars map[string]string) []string {
	args := slices.Clone(c.Args)
	for i := range args {
		for name, value := range vars {
			if !strings.Contains(args[i], "$("+name+")") {
				continue
			}
			if !slices.ContainsFunc(c.Env, func(e struct{ Name string }) bool { return e.Name == name }) {
				t.Errorf("%s: $(%s) is not declared", c.Name, name)
			}
			args[i] = strings.ReplaceAll(args[i], "$("+name+")", value)
		}
		if strings.Contains(args[i], "$(") {
			t.Errorf("%s: %s stays as it is", c.Name, args[i])
		}
	}
	return args
}

func manifests(t *testing.T) (all []manifest) {
	t.Helper()
	text, err := os.ReadFile("deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
}

// The manifests run the program with flags that it takes, and say the same as those flags.
func TestKubernetes(t *testing.T) {
	var roles []string
	for _, m := range manifests(t) {
		if m.Kind != "StatefulSet" && m.Kind != "Deployment" {
			continue
		}
		pod := m.Spec.Template.Spec
		if len(pod.Containers) != 1 || m.Spec.Template.Metadata.Labels["app"] != m.Spec.Selector.MatchLabels["app"] {
			t.Fatalf("%s: %+v", m.Metadata.Name, m)
		}
		c := &pod.Containers[0]
		f, err := parseFlags(c.expand(t, map[string]string{"POD": m.Metadata.Name + "-1", "NODE": "203.0.113.7"}))
		if err != nil {
			t.Errorf("%s: %v", m.Metadata.Name, err)
			continue
		}
		roles = append(roles, f.role)
		if c.ReadinessProbe.HTTPGet.Path != "/ready" || fmt.Sprint(":", c.ReadinessProbe.HTTPGet.Port) != f.http {
			t.Errorf("%s: is asked at %+v, and answers at %s", m.Metadata.Name, c.ReadinessProbe, f.http)
		}
		if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != "machines" {
			t.Errorf("%s: gets no key", m.Metadata.Name)
		}
		if f.role != "login" && float64(pod.TerminationGracePeriodSeconds) <= f.leave.Seconds() {
			t.Errorf("%s: is killed after %d s, and may leave for %v", m.Metadata.Name, pod.TerminationGracePeriodSeconds, f.leave)
		}
		for _, p := range c.Ports {
			if p.HostPort != p.ContainerPort || p.Protocol != "UDP" || p.ContainerPort != f.ports.First || f.ports.First != f.ports.Last {
				t.Errorf("%s: players are told ports %+v, and reach %+v", m.Metadata.Name, f.ports, p)
			}
		}
		if len(c.Ports) > 0 && !f.advertise.IsValid() {
			t.Errorf("%s: players are told the pod's own address", m.Metadata.Name)
		}
		var names []string
		for i := range 3 {
			names = append(names, fmt.Sprintf("managers-%d.managers:7000", i))
		}
		if !slices.Equal(f.managers, names) || m.Kind == "StatefulSet" && (m.Spec.Replicas != 3 || m.Spec.ServiceName != "managers" || m.Metadata.Name != "managers") {
			t.Errorf("%s: managers are at %v", m.Metadata.Name, f.managers)
		}
	}
	if want := []string{"managers", "login", "baseapp", "cellapp"}; !slices.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
}

// The unit of systemd does, too.
func TestSystemd(t *testing.T) {
	text, err := os.ReadFile("deploy/machines@.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(text), "ExecStart=/usr/local/bin/machines ")
	if !ok {
		t.Fatal("it does not start the program")
	}
	line, _, _ = strings.Cut(line, "\n")
	for _, role := range []string{"managers", "login", "baseapp", "cellapp"} {
		var args []string
		for _, a := range strings.Fields(line) {
			args = append(args, strings.NewReplacer("%i", role, "${MANAGERS}", "m0:7000,m1:7000,m2:7000", "${LISTEN}", "m1", "${PUBLIC}", "eth1", "${PORTS}", "").Replace(a))
		}
		f, err := parseFlags(args)
		if err != nil || f.role != role || f.http == "" || f.leave <= 0 {
			t.Errorf("%v: %+v, %v", args, f, err)
		}
	}
}
