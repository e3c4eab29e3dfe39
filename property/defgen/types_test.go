package main

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// Every kind has Go types in generated code: one in scalars, or a case of its own.
func TestEveryKind(t *testing.T) {
	own := map[property.Kind]bool{property.KindArray: true, property.KindTuple: true, property.KindFixedDict: true,
		property.KindMap: true, property.KindAny: true, property.KindUser: true}
	n := 0
	for k := property.KindInt8; !strings.HasPrefix(k.String(), "Kind("); k++ {
		if s, ok := scalars[k]; ok == own[k] || ok && (s.goType == "" || s.value == "" || s.get == "" || s.wide == "" || s.handle == "" || s.field == "") {
			t.Errorf("%v has %+v and, as one with a case of its own, %v", k, s, own[k])
		}
		n++
	}
	if n != len(scalars)+len(own) {
		t.Errorf("%d kinds, but scalars and the cases name %d", n, len(scalars)+len(own))
	}
}
