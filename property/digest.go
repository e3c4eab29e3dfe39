package property

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// Digests are taken over text rather than over encoded bytes, so that two that differ can be compared by eye: see
// [Schema.WriteText].

// WriteText writes the canonical text that Digest is taken of.
func (s *Schema) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, d := range s.Types {
		fmt.Fprintf(b, "type %s cell=%v base=%v client=%v persistent=%v detailed=%v manual=%v appeal=%v volatile=%v\n",
			d.Name, d.HasCell, d.HasBase, d.HasClient, d.Persistent, d.DetailedVolatile, d.ManualAoI, d.AppealRadius, d.Volatile)
		for _, l := range d.Levels {
			fmt.Fprintf(b, " level %s %v %v\n", l.Label, l.Radius, l.Hysteresis)
		}
		for _, p := range d.Properties {
			fmt.Fprintf(b, " property %s %v %v level=%d default=%v persistent=%v identifier=%v indexed=%v unique=%v length=%d latest=%v unreliable=%v\n",
				p.Name, p.Type, p.Flags, p.Level, p.Default, p.Persistent, p.Identifier, p.Indexed, p.Unique, p.DatabaseLength, p.SendLatestOnly, p.Unreliable)
		}
		writeMethods(b, "cell", d.CellMethods, false)
		writeMethods(b, "base", d.BaseMethods, false)
		writeMethods(b, "client", d.ClientMethods, false)
	}
	return b.Flush()
}

// WriteClientText writes the canonical text that ClientDigest is taken of: nothing in it depends on what clients neither
// see nor call.
func (s *Schema) WriteClientText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, d := range s.byClient {
		fmt.Fprintf(b, "type %s levels=%d\n", d.Name, len(d.Levels))
		for _, p := range d.Properties {
			if p.ClientIndex >= 0 {
				fmt.Fprintf(b, " property %s %v %#x level=%d\n", p.Name, p.Type, uint16(p.Flags&(OwnClient|OtherClient|OnBase)), p.Level)
			}
		}
		writeMethods(b, "cell", d.CellMethods, true)
		writeMethods(b, "base", d.BaseMethods, true)
		writeMethods(b, "client", d.ClientMethods, true)
	}
	return b.Flush()
}

func writeMethods(w io.Writer, side string, methods []*Method, forClient bool) {
	for _, m := range methods {
		if forClient && side != "client" && m.Exposed == NotExposed {
			continue
		}
		fmt.Fprintf(w, " %s method %s exposed=%s", side, m.Name, m.Exposed)
		for _, a := range m.Args {
			fmt.Fprintf(w, " %v", a.Type)
		}
		for _, a := range m.Returns {
			fmt.Fprintf(w, " returns %v", a.Type)
		}
		if !forClient {
			fmt.Fprintf(w, " distance=%v latest=%v unreliable=%v", m.DetailDistance, m.SendLatestOnly, m.Unreliable)
		}
		fmt.Fprintln(w)
	}
}

func (s *Schema) digest() [16]byte {
	h := sha256.New()
	_ = s.WriteText(h) // a hash takes everything
	return cut(h)
}

func (s *Schema) clientDigest() [16]byte {
	h := sha256.New()
	_ = s.WriteClientText(h)
	return cut(h)
}

func cut(h hash.Hash) (d [16]byte) {
	copy(d[:], h.Sum(nil))
	return d
}
