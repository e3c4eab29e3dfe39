package property

import (
	"math"
	"reflect"
	"sync"
	"testing"
)

// Handles read -0, NaN and infinities as the real has them, and all copies agree.
func TestFloatsOnAllCopies(t *testing.T) {
	f32, f64 := Scalar(KindFloat32), Scalar(KindFloat64)
	d := must(NewSchema(&Definition{Name: "A", HasCell: true, HasClient: true, Properties: []*Property{
		{Name: "a", Type: f32, Flags: AllClients}, {Name: "b", Type: f64, Flags: AllClients},
		{Name: "l", Type: must(NewArray(f32, 0)), Flags: AllClients}, {Name: "m", Type: must(NewMap(Scalar(KindInt8), f64)), Flags: AllClients},
		{Name: "v", Type: Scalar(KindVec3), Flags: AllClients}}})).Types[0]
	real, ghost, other := NewValues(d, CellSide, nil), NewValues(d, GhostSide, nil), NewValues(d, OtherClientSide, nil)
	told := 0
	real.SetHolder(holderFunc(func(c *Change) {
		told++
		if _, _, err := ghost.ApplyChange(real.AppendChange(nil, c), c.Index); err != nil {
			t.Fatal(err)
		}
		if _, _, err := other.ApplyClientChange(real.AppendClientChange(nil, c)); err != nil {
			t.Fatal(err)
		}
	}))
	var s struct {
		A Float32
		B Float64
		L Slice[float32]
		M Map[int8, float64]
		V Field[Vector3]
	}
	BindFields(&s, real)
	_ = s.L.Append(1)
	_ = s.M.Set(1, 1)
	payload := math.Float32frombits(0x7fc01234)
	neg := math.Copysign(0, -1)
	for _, x := range []float64{neg, 0, math.NaN(), math.Inf(1), math.Inf(-1), 0.1, math.SmallestNonzeroFloat32} {
		for twice := range 2 {
			told = 0
			s.A.Set(float32(x))
			s.B.Set(x)
			_ = s.L.SetAt(0, float32(x))
			_ = s.M.Set(1, x)
			s.V.Set(Vector3{float32(x), payload, float32(x)})
			_ = real.Set(0, Float(float64(float32(x))))
			if twice == 1 && told != 0 {
				t.Errorf("%v: told %d times of what was there", x, told)
			}
		}
		for i := range d.Properties {
			for _, v := range []*Values{ghost, other} {
				if !Equal(v.Get(i), real.Get(i)) || v.Get(i).String() != real.Get(i).String() {
					t.Errorf("%v: %v has %v, want %v", x, v.Side(), v.Get(i), real.Get(i))
				}
			}
		}
		if math.Signbit(float64(s.A.Get())) != math.Signbit(x) && x == x || math.Signbit(float64(s.L.At(0))) != math.Signbit(x) && x == x {
			t.Errorf("%v: sign", x)
		}
	}
}

// A list that is deleted in a loop over its handles ends the loop early: All follows the array as
// it is.
func TestArrayAllWhileDeleting(t *testing.T) {
	s, _, _ := boundHandles(t)
	_ = s.Bag.Append(item(1, 1), item(2, 2), item(3, 3), item(4, 4))
	var seen []int32
	for i, e := range s.Bag.All() {
		seen = append(seen, e.Count.Get())
		if i == 1 {
			_ = s.Bag.Delete(0, 2)
		}
	}
	if len(seen) != 2 {
		t.Errorf("saw %v", seen)
	}
	n := 0
	for range s.Bag.All() {
		if n++; n > 10 {
			t.Fatal("no end")
		}
		if n < 4 {
			_ = s.Bag.Append(item(9, 9))
		}
	}
}

// A Schema, its types and values that were read may be used by any goroutine.
func TestConcurrentReaders(t *testing.T) {
	d := handlesDefinition(t)
	v := NewValues(d, CellSide, nil)
	_ = v.Set(1, List(item(1, 1), item(2, 2)))
	stream, bag := v.AppendStream(nil, CellStream), v.Get(1)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				var s handlesScript
				w := NewValues(d, CellSide, nil)
				BindFields(&s, w)
				if _, err := w.ReadStream(stream, CellStream); err != nil || !Equal(w.Get(1), bag) {
					t.Error(err)
				}
				if err := w.SetAt(1, []int{0, 1}, Int(5)); err != nil || bag.At(0).At(1).Int() != 1 {
					t.Error(err)
				}
				b, err := w.AppendStore(nil, CellStoreStream)
				if err == nil {
					_, _, err = w.ReadStore(b, CellStoreStream)
				}
				if err != nil || CheckFields(reflect.TypeFor[handlesScript](), d, CellSide) != nil || d.Properties[1].Type.String() == "" {
					t.Error(err)
				}
			}
		})
	}
	_ = v.SetAt(1, []int{0, 1}, Int(9)) // the owner goes on
	wg.Wait()
}
