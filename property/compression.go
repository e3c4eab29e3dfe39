package property

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Compression names how the streams that create an entity are compressed: Internal between
// processes, External to clients. Names are those of BigWorld: NONE, or "", is not at all; ZIP_1,
// or ZIP_BEST_SPEED or ZIP, is the fastest and ZIP_9, or ZIP_BEST_COMPRESSION, the smallest, and
// ZIP_2 to ZIP_8 are between. In a file <level> 6 </level> within ZIP is ZIP_6.
//
// It pays for types that carry much text or long lists. Level 1 takes some microseconds for a
// stream, the higher ones some tens at least, of the goroutine of a whole CellApp. To clients a
// type with a ClientName goes as that type says.
type Compression struct {
	Internal string `json:"internal,omitempty"`
	External string `json:"external,omitempty"`
}

// Packing is how hard a stream is compressed: 1 is the fastest, 9 the smallest. Unpacked streams do
// not even have the byte that says whether the rest is compressed.
type Packing uint8

// Unpacked is the Packing of what travels as it is.
const Unpacked Packing = 0

const maxPacking = 9

const compressionRemedy = "use NONE, ZIP_BEST_SPEED, ZIP_BEST_COMPRESSION, or ZIP_1 to ZIP_9"

// packingOf returns what a name of a [Compression] means.
func packingOf(name string) (p Packing, ok bool) {
	switch name {
	case "", "NONE":
		return Unpacked, true
	case "ZIP", "ZIP_BEST_SPEED":
		return 1, true
	case "ZIP_BEST_COMPRESSION":
		return maxPacking, true
	}
	level, ok := strings.CutPrefix(name, "ZIP_")
	if !ok || len(level) != 1 || level[0] < '1' || level[0] > '0'+maxPacking {
		return Unpacked, false
	}
	return Packing(level[0] - '0'), true
}

// Packing returns how the streams of a domain are packed that create entities of the type: those of
// CellStream, BaseStream and GhostStream as Compression.Internal says, those to clients as
// External. Streams of the store and of recordings are not.
func (d *Definition) Packing(dom Stream) Packing {
	switch dom {
	case GhostStream, CellStream, BaseStream:
		return d.internal
	case OtherClientStream, OwnClientCellStream, OwnClientBaseStream:
		return d.external
	}
	return Unpacked
}

// compileCompression resolves the names, which the check has accepted. Clients know the type as,
// and unpack as it says.
func (d *Definition) compileCompression(as *Definition) {
	d.internal, _ = packingOf(d.Compression.Internal)
	if d.external, _ = packingOf(d.Compression.External); as != nil {
		d.external = as.external
	}
}

// inheritCompression is what a file states, and for a side of which it is silent what its parent
// does.
func inheritCompression(own, parent *Compression) *Compression {
	if own == nil || parent == nil {
		return cmp.Or(own, parent)
	}
	return &Compression{cmp.Or(own.Internal, parent.Internal), cmp.Or(own.External, parent.External)}
}

func (c *checker) checkCompression() {
	for _, f := range []struct{ element, name string }{
		{"internal", c.d.Compression.Internal}, {"external", c.d.Compression.External},
	} {
		if _, ok := packingOf(f.name); !ok { // of a tree, the loader has refused it
			c.problem(c.d.where, "NetworkCompression/"+f.element, fmt.Sprintf("there is no compression %q", shorten(f.name)), compressionRemedy)
		}
	}
}

// checkCompressionAs says so if clients are not sent what the type asks for.
func (c *checker) checkCompressionAs(as *Definition) {
	mine, _ := packingOf(c.d.Compression.External)
	if theirs, _ := packingOf(as.Compression.External); mine != theirs {
		c.notice(c.d.where, "NetworkCompression/external", fmt.Sprintf("clients see the type as %s, which has another", as.Name), "that one is used; state it here, too, or leave it out")
	}
}

func (l *loader) parseCompression(e *element) *Compression {
	c := &Compression{}
	l.noText(e, e.name)
	l.once(e, e.name, "")
	for _, f := range e.children {
		switch f.name {
		case "internal":
			c.Internal = l.compressionName(f, e.name+"/"+f.name)
		case "external":
			c.External = l.compressionName(f, e.name+"/"+f.name)
		default:
			l.unknown(f, e.name)
		}
	}
	return c
}

// compressionName reads ZIP_6, or ZIP <level> 6 </level> as BigWorld's own files have it.
func (l *loader) compressionName(e *element, path string) string {
	if _, ok := packingOf(e.text); !ok {
		l.fault(e.position, path, fmt.Sprintf("there is no compression %q", shorten(e.text)), compressionRemedy)
		return ""
	}
	if e.text != "ZIP" {
		l.noChildren(e, path)
		return e.text
	}
	l.once(e, path, "")
	name := e.text
	for _, f := range e.children {
		if f.name != "level" {
			l.unknown(f, path)
			continue
		}
		l.noChildren(f, path+"/"+f.name)
		level, err := strconv.Atoi(f.text)
		if err != nil || level < 1 || level > maxPacking {
			l.fault(f.position, path+"/"+f.name, fmt.Sprintf("%q is no level", shorten(f.text)), "state 1, the fastest, to 9, the smallest")
			continue
		}
		name = "ZIP_" + strconv.Itoa(level)
	}
	return name
}
