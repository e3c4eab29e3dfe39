package witness

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// chronicler is a Walker with four long texts that is packed for clients.
func chronicler(t *testing.T, external string) *property.Definition {
	t.Helper()
	d := *testDefinition(t,
		&property.Property{Name: "a", Type: property.Scalar(property.KindString), Flags: property.AllClients},
		&property.Property{Name: "b", Type: property.Scalar(property.KindString), Flags: property.AllClients},
		&property.Property{Name: "c", Type: property.Scalar(property.KindString), Flags: property.AllClients},
		&property.Property{Name: "d", Type: property.Scalar(property.KindString), Flags: property.AllClients})
	d.Compression.External = external
	s, err := property.NewSchema(&d)
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

// meet returns how many bytes of properties a client needs to meet a chronicler with so much text,
// -1 if it does not meet it.
func meet(t *testing.T, external string, z *property.Compressor, text int) int {
	t.Helper()
	wd := newWorldOf(t, chronicler(t, external), Config{BytesPerTick: 1 << 20}, 1, 0)
	wd.w.WorkWith(&Scratch{Compressor: z})
	e := newEntity(wd.def, 7, 1, 50, 0)
	for i := extra; i < extra+4; i++ {
		must(t, e.Props.Load(i, property.StringValue(strings.Repeat("once upon a time ", text/17+1)[:text])))
	}
	wd.all, wd.within[e.ID] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	bundle, _ := wd.w.Update(wd.watcher, wd.tick, nil, false)
	wd.client.bundle(bundle)
	r := wd.client.has[7]
	if r == nil {
		return -1
	}
	for i := extra; i < extra+4; i++ {
		if len(r.held.Get(i).Str()) != text {
			t.Errorf("%q: the client has %d bytes of text %d", external, len(r.held.Get(i).Str()), i)
		}
	}
	return wd.client.entered
}

func TestPackedEnter(t *testing.T) {
	const text = 500
	plain := meet(t, "", new(property.Compressor), text)
	if n := meet(t, "NONE", nil, text); n != plain || n < 4*text {
		t.Errorf("not packed: %d bytes, want %d", n, plain)
	}
	if n := meet(t, "ZIP", nil, text); n != plain+1 {
		t.Errorf("without a Compressor: %d bytes, want %d", n, plain+1)
	}
	if n := meet(t, "ZIP", new(property.Compressor), text); n < 0 || n > text/2 {
		t.Errorf("packed: %d bytes out of %d", n, plain)
	}
	if n := meet(t, "ZIP", new(property.Compressor), 0); n < 0 || n > property.MinPacked {
		t.Errorf("little: %d bytes", n)
	}
}

// An entity above MaxEntity can be told if it is below it when packed, unless a client would refuse
// to unpack it.
func TestPackedEnterAboveMaxEntity(t *testing.T) {
	const text = property.MaxClientProperty - 8
	if 4*text <= MaxEntity || 4*text > protocol.MaxProps {
		t.Fatal("the texts are not between the limits")
	}
	if n := meet(t, "", nil, text); n >= 0 {
		t.Errorf("as it is: %d bytes", n)
	}
	if n := meet(t, "ZIP", new(property.Compressor), text); n < 0 || n > text {
		t.Errorf("packed: %d bytes", n)
	}
}
