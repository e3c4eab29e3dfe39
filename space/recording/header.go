package recording

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
)

// ErrMalformed is in the chain of every error about bytes that are no recording.
var ErrMalformed = errors.New("recording: malformed")

// ErrVersion is in the chain of the error about a log of a version that this library does not read: it was
// written by a newer one.
var ErrVersion = errors.New("recording: another version")

// Header says what a log is of.
type Header struct {
	// Digest is that of the definitions (property.Schema.Digest): others cannot read the log.
	Digest [16]byte
	Space  entity.SpaceID
	// Number tells the recordings of a space apart: it is that of the entry of the space's data.
	Number uint64
	Label  string
	// App is the CellApp, and Cell the cell that wrote it.
	App, Cell string
}

func (h *Header) code(c *codec.Coder) {
	version := uint8(Version)
	c.U8(&version)
	if version < oldest || version > Version {
		c.Fail(fmt.Errorf("%w: it is of version %d, and versions %d to %d are read here; play it with the library that wrote it", ErrVersion, version, oldest, Version))
		return
	}
	c.Array(h.Digest[:])
	codec.Uint32(c, &h.Space)
	c.Uvarint(&h.Number)
	c.String(&h.Label, MaxLabel)
	c.String(&h.App, maxApp)
	c.String(&h.Cell, maxApp)
}

// Append and Parse are what code describes.
func (h *Header) Append(b []byte) []byte  { return codec.Append(b, h.code) }
func (h *Header) Parse(body []byte) error { return codec.ParseAs(ErrMalformed, body, h, h.code) }
