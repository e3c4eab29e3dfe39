package wire_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space"
)

func keptSpace() wire.KeptSpace {
	return wire.KeptSpace{Space: 1<<24 + 1, Info: []byte("info"), Data: []space.DataEntry{{Number: 7, Key: 3, Value: []byte("night")}}}
}

func FuzzKeptSpace(f *testing.F) {
	k := keptSpace()
	f.Add(k.Blob())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wire.ParseKeptSpace(b)
		if err != nil {
			return
		}
		if again, err := wire.ParseKeptSpace(m.Blob()); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v came back as %+v, %v", m, again, err)
		}
	})
}

func TestKeptSpaceRoundTrip(t *testing.T) {
	k := keptSpace()
	got, err := wire.ParseKeptSpace(k.Blob())
	if err != nil || !reflect.DeepEqual(got, k) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := wire.ParseKeptSpace(k.Blob()[:5]); err == nil {
		t.Error("half of it was read")
	}
}

func TestLeftIsBounded(t *testing.T) {
	var m wire.StopState
	for range 2 * wire.MaxLeft {
		m.AddLeft("%s", strings.Repeat("x", 1000))
	}
	var got wire.StopState
	if err := got.Parse(m.Append(nil)); err != nil || len(got.Left) != wire.MaxLeft {
		t.Errorf("%d names, %v", len(got.Left), err)
	}
}
