package ghost

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// A packed State is as good as a plain one, and shorter where the type asks for it.
func TestPackedState(t *testing.T) {
	sizes := make(map[string]int)
	for _, name := range []string{"", "NONE", "ZIP_BEST_SPEED", "ZIP_9"} {
		s := newSourceOf(packedDefinition(t, property.Compression{Internal: name}))
		for n := range 300 {
			if err := s.Props.Splice(wares, nil, n, n, property.Uint(uint64(n%9))); err != nil {
				t.Fatal(err)
			}
		}
		s.changes = nil
		m := s.state()
		var parsed State
		if err := parsed.Parse(m.Append(nil)); err != nil {
			t.Fatal(err)
		}
		g := New(s.ID, s.Def)
		take(t, g, &parsed, Taken)
		if sum(g.Entity) != sum(s.Entity) {
			t.Errorf("%q: the ghost differs from its real", name)
		}
		sizes[name] = len(m.Props)
	}
	if plain := len(newSource(t).Props.AppendStream(nil, property.GhostStream)) + 4*300 + 1; sizes[""] != plain || sizes["NONE"] != plain {
		t.Errorf("not packed: %d and %d bytes, want %d", sizes[""], sizes["NONE"], plain)
	}
	if sizes["ZIP_9"] > sizes["ZIP_BEST_SPEED"] || sizes["ZIP_BEST_SPEED"]*2 > sizes[""] {
		t.Errorf("sizes %v", sizes)
	}
}

func TestPackedStateRefused(t *testing.T) {
	s := newSourceOf(packedDefinition(t, property.Compression{Internal: "ZIP"}))
	good := s.state()
	zeros := new(property.Compressor).Pack(nil, make([]byte, 1<<20), 1, 1<<20)
	for what, c := range map[string]struct {
		props []byte
		want  error
	}{
		"no form":         {nil, property.ErrTruncated},
		"unknown form":    {append([]byte{7}, good.Props[1:]...), property.ErrValue},
		"a bomb":          {zeros, property.ErrLength},
		"only a claim":    {binary.AppendUvarint([]byte{1}, 1<<20), property.ErrLength},
		"another stream":  {new(property.Compressor).Pack(nil, bytes.Repeat([]byte{1}, 400), 1, MaxProps), property.ErrTrailing},
		"a byte too many": {append(good.Props[:len(good.Props):len(good.Props)], 0), property.ErrTrailing},
	} {
		g, m := New(s.ID, s.Def), *good
		m.Props = c.props
		if _, err := g.TakeState(&m, app(1), 1, new(property.Compressor)); !errors.Is(err, ErrMalformed) || !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", what, err, c.want)
		}
		take(t, g, good, Taken) // nothing had changed
	}
}
