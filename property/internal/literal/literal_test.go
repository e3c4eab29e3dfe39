package literal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property/internal/literal"
)

func Example() {
	fmt.Println(literal.Parse("{'name': u'axe', 'damage': (1, 0x1F), 'owner': None}"))
	fmt.Println(literal.Parse("1 + 1"))
	// Output:
	// map[damage:[1 31] name:axe owner:<nil>] <nil>
	// <nil> not a literal: "+ 1" is left over
}

// Nesting is refused before it can end the stack.
func TestDepth(t *testing.T) {
	if _, err := literal.Parse(strings.Repeat("[", 1<<20)); err == nil {
		t.Error("a million brackets are read")
	}
}

// Any text gives a value of the documented types, or an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"None", "[1, -2.5e3, True]", `{1: 'a', 2: b'\x00'}`, "(1,)", "'''a\nb''' r'\\'", "1L, 0b1", "dict()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := literal.Parse(s)
		if err != nil && x != nil {
			t.Fatalf("%v with %v", x, err)
		}
		switch x.(type) {
		case nil, bool, int64, uint64, float64, string, []byte, []any, map[string]any, map[int64]any:
		default:
			t.Fatalf("%q is a %T", s, x)
		}
	})
}
