package property

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"
	"strconv"
)

// Digests are taken over text rather than over encoded bytes, so that two that differ can be
// compared by eye: see [Schema.WriteText].

// WriteText writes the canonical text that Digest is taken of: all that has a meaning on the
// servers. What is Kept or Editable, names of arguments and places in files have none.
func (s *Schema) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	var line []byte
	for _, d := range s.Types {
		line = d.appendText(line[:0])
		b.Write(line) // a Writer keeps its error for Flush
	}
	for _, d := range s.Services {
		line = append(append(append(line[:0], "service "...), d.Name...), '\n')
		b.Write(appendMethods(line, "", d.BaseMethods, false))
	}
	return b.Flush()
}

func (d *Definition) appendText(b []byte) []byte {
	b = append(append(b, "type "...), d.Name...)
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"cell", d.HasCell}, {"base", d.HasBase}, {"client", d.HasClient}, {"persistent", d.Persistent}, {"id", d.ExplicitDatabaseID},
		{"detailed", d.DetailedVolatile}, {"manual", d.ManualAoI},
	} {
		b = strconv.AppendBool(append(append(append(b, ' '), f.name...), '='), f.is)
	}
	b = appendNumber(b, " appeal=", d.AppealRadius)
	b = appendNumber(b, " position=", d.Volatile.Position)
	b = appendNumber(b, " yaw=", d.Volatile.Yaw)
	b = appendNumber(b, " pitch=", d.Volatile.Pitch)
	b = appendNumber(b, " roll=", d.Volatile.Roll)
	if u := d.UpdateScheme; u != (UpdateScheme{}) {
		b = appendNumber(appendNumber(appendNumber(b, " scheme=", u.Min), "-", u.Max), "@", u.Distance)
	}
	b = strconv.AppendQuote(append(b, " internal="...), d.Compression.Internal)
	b = strconv.AppendQuote(append(b, " external="...), d.Compression.External)
	b = append(append(append(b, " as="...), d.ClientName...), '\n')
	for _, l := range d.Levels {
		b = append(append(b, " level "...), l.Label...)
		b = append(appendNumber(appendNumber(b, " ", l.Radius), " ", l.Hysteresis), '\n')
	}
	for _, c := range d.Components {
		b = append(append(append(append(append(b, " component "...), c.Name...), ' '), c.Type...), '\n')
	}
	for _, name := range d.TempProperties {
		b = append(append(append(b, " temporary "...), name...), '\n')
	}
	for _, p := range d.Properties {
		b = p.appendText(b)
	}
	b = appendMethods(b, "cell ", d.CellMethods, false)
	b = appendMethods(b, "base ", d.BaseMethods, false)
	return appendMethods(b, "client ", d.ClientMethods, false)
}

func (p *Property) appendText(b []byte) []byte {
	b = append(append(append(b, " property "...), p.Name...), ' ')
	b = append(append(append(p.Type.describe(b, true), ' '), p.Flags.String()...), " level="...)
	b = append(strconv.AppendInt(b, int64(p.Level), 10), " default="...)
	b = strconv.AppendQuote(b, p.Type.DefaultText(p.Default))
	b = append(b, " component="...)
	b = append(b, p.Component...)
	for _, f := range []struct {
		name string
		is   bool
	}{
		{" persistent", p.Persistent}, {" identifier", p.Identifier}, {" indexed", p.Indexed}, {" unique", p.Unique},
		{" latest", p.SendLatestOnly}, {" unreliable", p.Unreliable}, {" replay", p.ExposedForReplay},
	} {
		if f.is {
			b = append(b, f.name...)
		}
	}
	b = strconv.AppendInt(append(b, " length="...), int64(p.DatabaseLength), 10)
	return append(strconv.AppendInt(append(b, " warn="...), int64(p.WarnBytes), 10), '\n')
}

// WriteClientText writes the canonical text that ClientDigest is taken of: nothing in it depends on
// what clients neither see nor call.
func (s *Schema) WriteClientText(w io.Writer) error {
	b := bufio.NewWriter(w)
	var line []byte
	for _, d := range s.byClient {
		line = append(append(line[:0], "type "...), d.Name...)
		if d.external != Unpacked { // the level does not matter to the one that unpacks
			line = append(line, " packed"...)
		}
		line = append(line, '\n')
		for _, p := range d.Properties {
			if p.ClientIndex >= 0 {
				line = append(append(append(line, " property "...), p.Name...), ' ')
				line = append(p.Type.describe(line, false), ' ')
				line = append(strconv.AppendUint(line, uint64(p.Flags&(OwnClient|OtherClient|OnBase)), 16), '\n')
			}
		}
		line = appendMethods(line, "cell ", d.CellMethods, true)
		line = appendMethods(line, "base ", d.BaseMethods, true)
		line = appendMethods(line, "client ", d.ClientMethods, true)
		b.Write(line)
	}
	return b.Flush()
}

func appendMethods(b []byte, side string, methods []*Method, forClient bool) []byte {
	for _, m := range methods {
		if forClient && side != "client " && m.ExposedIndex < 0 {
			continue
		}
		b = append(append(append(append(b, ' '), side...), "method "...), m.Name...)
		b = append(append(b, " exposed="...), m.Exposed.String()...)
		for _, a := range m.Args {
			b = a.Type.describe(append(b, ' '), !forClient)
		}
		for _, a := range m.Returns {
			if !forClient {
				b = a.Type.describe(append(b, " returns "...), true)
			}
		}
		if !forClient {
			b = appendNumber(b, " distance=", m.DetailDistance)
			b = append(append(b, " replay="...), m.ReplayExposure.String()...)
			b = strconv.AppendInt(append(b, " warn="...), int64(m.WarnBytes), 10)
			b = append(append(b, " component="...), m.Component...)
			if m.SendLatestOnly {
				b = append(b, " latest"...)
			}
			if m.Unreliable {
				b = append(b, " unreliable"...)
			}
		}
		b = append(b, '\n')
	}
	return b
}

func appendNumber(b []byte, name string, f float32) []byte {
	return strconv.AppendFloat(append(b, name...), float64(f), 'g', -1, 32)
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
