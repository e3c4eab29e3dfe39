package property

import (
	"fmt"
	"testing"
)

func TestPackingOfNames(t *testing.T) {
	names := map[string]Packing{"": 0, "NONE": 0, "ZIP": 1, "ZIP_BEST_SPEED": 1, "ZIP_BEST_COMPRESSION": 9}
	for p := Packing(1); p <= 9; p++ {
		names[fmt.Sprintf("ZIP_%d", p)] = p
	}
	for name, want := range names {
		if p, ok := packingOf(name); !ok || p != want {
			t.Errorf("%q is %d, %v, want %d", name, p, ok, want)
		}
	}
	for _, name := range []string{"none", "zip", "ZIP_", "ZIP_0", "ZIP_10", "ZIP_x", "ZIP_1 ", "GZIP", "ZIP_BEST"} {
		if p, ok := packingOf(name); ok {
			t.Errorf("%q is %d", name, p)
		}
	}
}

// What a type states decides, stream by stream; what it leaves out its Parent does; clients unpack
// as the type says that they take it for.
func TestPackingOfTypes(t *testing.T) {
	type packings struct{ internal, external Packing }
	const parent = "-- entity_defs/P.def --\n<root> <NetworkCompression> <internal> ZIP_3 </internal> <external> ZIP <level> 4 </level> </external> </NetworkCompression> </root>\n"
	for _, c := range []struct {
		name, a string
		want    packings
	}{
		{"parent's", "<Parent> P </Parent>", packings{3, 4}},
		{"one side", "<Parent> P </Parent> <NetworkCompression> <internal> ZIP </internal> </NetworkCompression>", packings{1, 4}},
		{"none", "<Parent> P </Parent> <NetworkCompression> <internal> NONE </internal> <external/> </NetworkCompression>", packings{0, 4}},
		{"own", "<NetworkCompression> <external> ZIP_BEST_COMPRESSION </external> </NetworkCompression>", packings{0, 9}},
		{"other client name", "<Parent> P </Parent> <ClientName> P </ClientName> <NetworkCompression> <internal> ZIP_8 </internal> <external> NONE </external> </NetworkCompression>", packings{8, 4}},
		{"nothing", "", packings{}},
	} {
		s, err := Load(tree("-- entities.xml --\n<root> <P/> <A/> </root>\n" + parent + "-- entity_defs/A.def --\n<root> " + c.a + " </root>\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for dom := range domains {
			want := Unpacked
			switch dom {
			case GhostStream, CellStream, BaseStream:
				want = c.want.internal
			case OtherClientStream, OwnClientCellStream, OwnClientBaseStream:
				want = c.want.external
			}
			if got := s.Type("A").Packing(dom); got != want {
				t.Errorf("%s: the %v is packed with %d, want %d", c.name, dom, got, want)
			}
		}
	}
}
