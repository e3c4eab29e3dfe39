package property

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// Each benchmark stands beside a reference operation of the same run; benchstat or the eye compares
// the two.

// benchDefinition is an avatar-like type of 30 ghosted properties: numbers, flags, vectors, names
// and a bag.
func benchDefinition(tb testing.TB) *Definition {
	tb.Helper()
	item := must(NewFixedDict(false, DictField{Name: "kind", Type: Scalar(KindUint16)}, DictField{Name: "count", Type: Scalar(KindInt32)}))
	d := &Definition{Name: "Avatar", HasCell: true, HasClient: true, ClientMethods: []*Method{{Name: "say"}}}
	add := func(n int, name string, t *DataType) {
		for i := range n {
			d.Properties = append(d.Properties, &Property{Name: name + string(rune('A'+i)), Type: t, Flags: AllClients})
		}
	}
	add(10, "number", Scalar(KindInt32))
	add(4, "small", Scalar(KindUint8))
	add(5, "ratio", Scalar(KindFloat32))
	add(3, "flag", Scalar(KindBool))
	add(3, "point", Scalar(KindVec3))
	add(3, "name", Scalar(KindUnicodeString))
	add(1, "bag", must(NewArray(item, 0)))
	add(1, "id", Scalar(KindEntityID))
	s, err := NewSchema(d)
	if err != nil {
		tb.Fatal(err)
	}
	return s.Types[0]
}

type benchItem struct {
	Kind  uint16 `msgpack:"kind"`
	Count int32  `msgpack:"count"`
}

// benchStruct is the same as a Go programmer would write it.
type benchStruct struct {
	NumberA, NumberB, NumberC, NumberD, NumberE, NumberF, NumberG, NumberH, NumberI, NumberJ int32
	SmallA, SmallB, SmallC, SmallD                                                           uint8
	RatioA, RatioB, RatioC, RatioD, RatioE                                                   float32
	FlagA, FlagB, FlagC                                                                      bool
	PointA, PointB, PointC                                                                   Vector3
	NameA, NameB, NameC                                                                      string
	BagA                                                                                     []benchItem
	IdA                                                                                      uint64
}

// benchHandles is the script of benchDefinition.
type benchHandles struct {
	NumberA Int32
	RatioA  Float32
	NameA   String
	PointA  Field[Vector3]
	BagA    Array[benchItemHandles]
}

type benchItemHandles struct {
	Dict
	Kind  Uint16
	Count Int32
}

func benchScripts(tb testing.TB, n int, h Holder) []*benchHandles {
	d := benchDefinition(tb)
	if err := CheckFields(reflect.TypeFor[benchHandles](), d, CellSide); err != nil {
		tb.Fatal(err)
	}
	list := make([]*benchHandles, n)
	for i := range list {
		list[i] = new(benchHandles)
		v := NewValues(d, CellSide, h)
		fillBench(tb, v)
		BindFields(list[i], v)
	}
	return list
}

func fillBench(tb testing.TB, v *Values) {
	for i, p := range v.Definition().Properties {
		val := p.Default
		switch p.Type.Kind() {
		case KindInt32:
			val = Int(int64(i) * 1000)
		case KindUnicodeString:
			val = StringValue("Alrik of Ferdok")
		case KindArray:
			val = List(List(Uint(7), Int(1)), List(Uint(12), Int(30)), List(Uint(9), Int(2)))
		case KindVec3:
			val = Vec3(Vector3{1, 2, 3})
		}
		if err := v.Load(i, val); err != nil {
			tb.Fatal(err)
		}
	}
}

// A read of a handle against a read of a field behind a pointer, over 64 entities, as a tick does
// it.
func BenchmarkReadHandle(b *testing.B) {
	scripts := benchScripts(b, 64, nil)
	var sum int32
	for b.Loop() {
		for _, s := range scripts {
			sum += s.NumberA.Get()
		}
	}
	sinkInt = int64(sum)
}

type plainScript struct {
	_ int64
	*benchStruct
}

func BenchmarkReadPlainField(b *testing.B) {
	scripts := make([]*plainScript, 64)
	for i := range scripts {
		scripts[i] = &plainScript{benchStruct: &benchStruct{NumberA: int32(i)}}
	}
	var sum int32
	for b.Loop() {
		for _, s := range scripts {
			sum += s.NumberA
		}
	}
	sinkInt = int64(sum)
}

func BenchmarkReadHandleNested(b *testing.B) {
	scripts := benchScripts(b, 64, nil)
	var sum int32
	for b.Loop() {
		for _, s := range scripts {
			sum += s.BagA.At(1).Count.Get()
		}
	}
	sinkInt = int64(sum)
}

var sinkInt int64

// numbering is the holder of an entity that nobody watches: it numbers changes, as the real does.
type numbering struct {
	values  *Values
	history *History
}

func (n *numbering) PropertyChanged(c *Change) { n.history.Record(n.values, c) }

// Setting a number, with the change recorded and nobody watching, against an assignment to a map.
func BenchmarkSetScalar(b *testing.B) {
	h := &numbering{}
	s := benchScripts(b, 1, h)[0]
	h.values, h.history = s.NumberA.values, NewHistory(s.NumberA.values.def)
	b.ReportAllocs()
	for n := int32(1); b.Loop(); n++ {
		s.NumberA.Set(n)
		if n&0xffffff == 0 {
			h.history.last = 0 // numbers are for a life, not for a benchmark
		}
	}
}

func BenchmarkSetMap(b *testing.B) {
	m := make(map[string]int32, 30)
	for _, p := range benchDefinition(b).Properties {
		m[p.Name] = 0
	}
	for n := int32(1); b.Loop(); n++ {
		m["numberA"] = n
	}
}

func BenchmarkSetMapOfAny(b *testing.B) {
	m := make(map[string]any, 30)
	for _, p := range benchDefinition(b).Properties {
		m[p.Name] = int32(0)
	}
	for n := int32(1); b.Loop(); n++ {
		m["numberA"] = n
	}
}

// One change of a number encoded for ghosts and for clients, against binary.Append of the same
// bytes.
func BenchmarkEncodeChange(b *testing.B) {
	v := NewValues(benchDefinition(b), CellSide, nil)
	c := &Change{Index: 3, New: Int(77)}
	if err := v.Set(3, Int(77)); err != nil {
		b.Fatal(err)
	}
	encodeEach(b, v, c)
}

// encodeEach encodes a change for ghosts and for clients.
func encodeEach(b *testing.B, v *Values, c *Change) {
	var ghosts, clients []byte
	b.ReportAllocs()
	for b.Loop() {
		ghosts = v.AppendChange(ghosts[:0], c)
		clients = v.AppendClientChange(clients[:0], c)
	}
	b.ReportMetric(float64(len(ghosts)+len(clients)), "bytes")
}

func BenchmarkEncodeChangeBinaryAppend(b *testing.B) {
	var ghosts, clients []byte
	ghost := struct {
		Flags uint8
		Value int32
	}{0, 77}
	client := struct {
		Key   uint8
		Value int32
	}{6, 77}
	for b.Loop() {
		ghosts, _ = binary.Append(ghosts[:0], binary.LittleEndian, &ghost)
		clients, _ = binary.Append(clients[:0], binary.LittleEndian, &client)
	}
	b.ReportMetric(float64(len(ghosts)+len(clients)), "bytes")
}

// The same with the fields one by one, which spares binary.Append its reflection.
func BenchmarkEncodeChangeBinaryAppendByField(b *testing.B) {
	var ghosts, clients []byte
	for b.Loop() {
		ghosts, _ = binary.Append(ghosts[:0], binary.LittleEndian, uint8(0))
		ghosts, _ = binary.Append(ghosts, binary.LittleEndian, int32(77))
		clients, _ = binary.Append(clients[:0], binary.LittleEndian, uint8(6))
		clients, _ = binary.Append(clients, binary.LittleEndian, int32(77))
	}
}

func BenchmarkEncodeNestedChange(b *testing.B) {
	v := NewValues(benchDefinition(b), CellSide, nil)
	fillBench(b, v)
	c := &Change{Index: 28, Path: []int{1, 1}, New: Int(31)}
	if err := v.SetAt(28, c.Path, Int(31)); err != nil {
		b.Fatal(err)
	}
	encodeEach(b, v, c)
}

// Setting one field of one element of an array, recorded as above.
func BenchmarkSetNested(b *testing.B) {
	h := &numbering{}
	s := benchScripts(b, 1, h)[0]
	h.values, h.history = s.NumberA.values, NewHistory(s.NumberA.values.def)
	b.ReportAllocs()
	for n := int32(1); b.Loop(); n++ {
		s.BagA.At(1).Count.Set(n)
		h.history.Trim(h.history.Last())
	}
}

// A change of one element's field while handles of many elements are bound, and while they are not.
func BenchmarkSetPartWithManyHandles(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, handles := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d elements, handles %v", n, handles), func(b *testing.B) {
				var s handlesScript
				v := NewValues(handlesDefinition(b), CellSide, nil)
				BindFields(&s, v)
				var items []Value
				for i := range n {
					items = append(items, item(int64(i%100), 1))
				}
				if err := s.Bag.SetValue(List(items...)); err != nil {
					b.Fatal(err)
				}
				first := s.Bag.At(0)
				if handles {
					for range s.Bag.All() {
					}
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i++
					first.Count.Set(int32(i & 1))
				}
			})
		}
	}
}

// A ghost stream of 30 properties written and read, against MessagePack of the equivalent struct.
func BenchmarkGhostStreamBothWays(b *testing.B) {
	d := benchDefinition(b)
	real, ghost := NewValues(d, CellSide, nil), NewValues(d, GhostSide, nil)
	fillBench(b, real)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = real.AppendStream(buf[:0], GhostStream)
		if _, err := ghost.ReadStream(buf, GhostStream); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

func BenchmarkMsgpackBothWays(b *testing.B) {
	real := benchStruct{NumberA: 1000, NumberB: 2000, NumberC: 3000, NumberD: 4000, NumberE: 5000, NumberF: 6000, NumberG: 7000,
		NumberH: 8000, NumberI: 9000, NameA: "Alrik of Ferdok", NameB: "Alrik of Ferdok", NameC: "Alrik of Ferdok",
		PointA: Vector3{1, 2, 3}, PointB: Vector3{1, 2, 3}, PointC: Vector3{1, 2, 3},
		BagA: []benchItem{{7, 1}, {12, 30}, {9, 2}}}
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		buf, err := msgpack.Marshal(&real)
		if err != nil {
			b.Fatal(err)
		}
		var ghost benchStruct
		if err := msgpack.Unmarshal(buf, &ghost); err != nil {
			b.Fatal(err)
		}
		size = len(buf)
	}
	b.ReportMetric(float64(size), "bytes")
}

func BenchmarkHistoryAddFull(b *testing.B) {
	h := NewHistory(benchDefinition(b))
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
