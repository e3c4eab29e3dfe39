package main

import "testing"

// TestTexts checks that every plant can still be planted: that its text stands in its file exactly
// once. The plants themselves are planted by hand.
func TestTexts(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range plants() {
		if names[p.name] {
			t.Errorf("two plants are called %s", p.name)
		}
		names[p.name] = true
		if text, err := p.planted(root); err != nil {
			t.Errorf("%s: %v", p.name, err)
		} else if text == "" || p.old == p.new {
			t.Errorf("%s changes nothing", p.name)
		}
	}
	if len(names) < 25 {
		t.Errorf("there are %d plants, the simulator is measured by at least 25", len(names))
	}
}
