package property

import "testing"

// The load: an avatar-like type of 40 properties, 10 of each of INT32, FLOAT32, VECTOR3 and STRING, all ghosted.
func benchValues(b *testing.B) *Values {
	d := &Definition{Name: "Avatar", HasCell: true, HasClient: true}
	for i := range 10 {
		for _, k := range []Kind{KindInt32, KindFloat32, KindVec3, KindString} {
			d.Properties = append(d.Properties, &Property{Name: k.String() + string(rune('A'+i)), Type: Scalar(k), Flags: AllClients})
		}
	}
	d.ClientMethods = []*Method{{Name: "say"}}
	s, err := NewSchema(d)
	if err != nil {
		b.Fatal(err)
	}
	return NewValues(s.Types[0], CellSide, nil)
}

func BenchmarkFieldGet(b *testing.B) {
	v := benchValues(b)
	var f Int32
	f.bind(v, 0)
	for n := int32(0); b.Loop(); {
		n += f.Get()
	}
}

func BenchmarkFieldSet(b *testing.B) {
	v := benchValues(b)
	var f Int32
	f.bind(v, 0)
	for n := int32(0); b.Loop(); n++ {
		f.Set(n)
	}
}

func BenchmarkAppendStream40(b *testing.B) {
	v := benchValues(b)
	var buf []byte
	for b.Loop() {
		buf = v.AppendStream(buf[:0], GhostStream)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkReadStream40(b *testing.B) {
	v := benchValues(b)
	buf := v.AppendStream(nil, GhostStream)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if _, err := v.ReadStream(buf, GhostStream); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHistoryAddFull(b *testing.B) {
	h := NewHistory(benchValues(b).Definition())
	payload := make([]byte, 32)
	for b.Loop() {
		h.Add(0, payload)
	}
}

func BenchmarkLoad(b *testing.B) {
	files := tree(goodTree)
	for b.Loop() {
		if _, err := Load(files); err != nil {
			b.Fatal(err)
		}
	}
}
