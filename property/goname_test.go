package property

import "testing"

func TestGoName(t *testing.T) {
	for name, want := range map[string]string{"wear": "Wear", "Wear": "Wear", "purse.add": "PurseAdd", "a.b.c": "ABC", "_timer": "_timer", "über": "Über"} {
		if got := GoName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
