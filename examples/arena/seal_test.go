package main

import (
	"strings"
	"testing"
)

// TestSealKey: the flags and the environment decide which key a run takes.
func TestSealKey(t *testing.T) {
	good := strings.Repeat("5e", 32)
	for _, x := range []struct {
		name, args, variable string
		sealed               bool
		fault                string
	}{
		{"alone", "", "", true, ""},
		{"alone in the clear", "-seal=false", good, false, ""},
		{"alone with a key", "", good, true, ""},
		{"role with a key", "-role login", good, true, ""},
		{"role without a key", "-role login", "", false, ""},
		{"role that must be sealed", "-role login -seal", "", false, "openssl"},
		{"role in the clear", "-role login -seal=false", good, false, ""},
		{"key too short", "-role login", good[2:], false, keyVariable},
		{"key of zeros", "", strings.Repeat("0", 64), false, "zeros"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Setenv(keyVariable, x.variable)
			f, err := parseFlags(strings.Fields(x.args))
			if err != nil {
				t.Fatal(err)
			}
			key, err := sealKey(f)
			if x.fault != "" {
				if err == nil || !strings.Contains(err.Error(), x.fault) || strings.Contains(err.Error(), "5e5e") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || key.IsZero() == x.sealed || x.sealed && x.variable != "" && key.Hex() != x.variable {
				t.Errorf("key %s, error %v", key.Hex(), err)
			}
		})
	}
}
