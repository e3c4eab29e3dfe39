package property

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Forms of a packed stream: its first byte.
//
//	+---+--------+      +---+-----------------------------+----------------+
//	| 0 | stream |  or  | 1 | length of the stream uvarint | deflated bytes |
//	+---+--------+      +---+-----------------------------+----------------+
const (
	formPlain   = 0
	formDeflate = 1
)

const (
	// MinPacked is the shortest stream that is compressed, in bytes. Deflate saves a dozen bytes of
	// a shorter one, thirty at best. That is less than the headers of its message, and it takes 3
	// to 5 µs of a tick.
	MinPacked = 128
	// maxRatio is more than deflate can shrink anything: a longest match, of 258 bytes, takes two
	// bits. A claim beyond it is a lie, and nothing is allocated for it.
	maxRatio = 1032
)

// Compressor packs and unpacks the streams that create entities, as their types' [Compression]
// says. It belongs to one goroutine, and everything that this goroutine does should share it: each
// level takes about 1 MB from its first use, and unpacking takes 45 KB. The zero value is ready for
// use. A nil one unpacks, and packs nothing: every stream goes as it is, which any reader takes.
//
// One build of a program makes the same bytes of a stream each time, whatever it packed before.
type Compressor struct {
	writers  [maxPacking + 1]*flate.Writer
	out      sink
	raw      []byte // the stream that is packed
	reader   io.ReadCloser
	in       bytes.Reader
	unpacked []byte
	last     [1]byte
}

// AppendStream appends a stream of v, packed as its type says for dom; for a type that is not
// packed there, it does exactly what [Values.AppendStream] does. limit is the limit of the process
// that will unpack the stream, in bytes. A longer stream goes as it is: else a check of the packed
// size could let through what the reader must refuse.
func (c *Compressor) AppendStream(b []byte, v *Values, dom Stream, limit int) []byte {
	p := v.def.Packing(dom)
	if p == Unpacked {
		return v.AppendStream(b, dom)
	}
	if c == nil {
		return v.AppendStream(append(b, formPlain), dom)
	}
	c.raw = v.AppendStream(c.raw[:0], dom)
	return c.Pack(b, c.raw, p, limit)
}

// ReadStream reads what AppendStream wrote into v, without telling the holder. It takes every value
// or, with an error, none. Errors are those of Unpack and of [Values.ReadStream], and ErrTrailing
// if b has more than the stream.
func (c *Compressor) ReadStream(b []byte, v *Values, dom Stream, limit int) error {
	stream, err := c.Unpack(b, v.def.Packing(dom), limit)
	if err != nil {
		return fmt.Errorf("%s: %v: %w", v.def.Name, dom, err)
	}
	_, err = v.readStream(stream, dom, true)
	return err
}

// Pack appends stream, packed with p; see AppendStream for the limit. stream must not share its
// bytes with b.
func (c *Compressor) Pack(b, stream []byte, p Packing, limit int) []byte {
	if p == Unpacked {
		return append(b, stream...)
	}
	if c != nil && len(stream) >= MinPacked && len(stream) <= limit {
		var ok bool
		if b, ok = c.deflate(b, stream, p); ok {
			return b
		}
	}
	return append(append(b, formPlain), stream...)
}

// deflate appends stream compressed. Unless that is shorter than the stream, b is what it was.
func (c *Compressor) deflate(b, stream []byte, p Packing) (_ []byte, ok bool) {
	mark := len(b)
	b = binary.AppendUvarint(append(b, formDeflate), uint64(len(stream)))
	c.out = sink{b: b, max: mark + len(stream)}
	w := c.writer(p)
	_, err := w.Write(stream)
	if err == nil {
		err = w.Close()
	}
	b, c.out.b = c.out.b, nil
	if err != nil {
		return b[:mark], false
	}
	return b, true
}

// writer returns the writer of a level, ready to write to out.
func (c *Compressor) writer(p Packing) *flate.Writer {
	p = min(p, maxPacking)
	if c.writers[p] != nil {
		c.writers[p].Reset(&c.out)
		return c.writers[p]
	}
	w, err := flate.NewWriter(&c.out, int(p))
	if err != nil {
		panic(fmt.Sprintf("property: %v", err)) // only of a level that there is not
	}
	c.writers[p] = w
	return w
}

// sink is a slice to write to, up to a length.
type sink struct {
	b   []byte
	max int
}

var errNoGain = errors.New("property: longer than the limit")

func (s *sink) Write(p []byte) (int, error) {
	if len(s.b)+len(p) > s.max {
		return 0, errNoGain
	}
	s.b = append(s.b, p...)
	return len(p), nil
}

// Unpack returns the stream that Pack packed with any level but Unpacked, or, for that, packed
// itself. It is part of packed or of the Compressor's own memory, and good until Unpack is called
// again. A stream of more than limit bytes is refused before anything is allocated for it.
//
// Errors are ErrTruncated, ErrTrailing, ErrLength for a stream that is longer than the limit or
// than it says itself, and ErrValue for bytes that no Compressor makes.
func (c *Compressor) Unpack(packed []byte, p Packing, limit int) (stream []byte, err error) {
	form := byte(formPlain)
	if p != Unpacked {
		if len(packed) == 0 {
			return nil, fmt.Errorf("%w: no form", ErrTruncated)
		}
		form, packed = packed[0], packed[1:]
	}
	switch {
	case form > formDeflate:
		return nil, fmt.Errorf("%w: form %d of a packed stream", ErrValue, form)
	case form == formPlain && len(packed) > limit:
		return nil, fmt.Errorf("%w: stream of %d bytes, at most %d", ErrLength, len(packed), limit)
	case form == formPlain:
		return packed, nil
	}
	n, packed, err := readUvarint(packed)
	switch {
	case err != nil:
		return nil, err
	case n > uint64(limit):
		return nil, fmt.Errorf("%w: stream of %d bytes, at most %d", ErrLength, n, limit)
	case n/maxRatio > uint64(len(packed)):
		return nil, fmt.Errorf("%w: stream of %d bytes out of %d", ErrLength, n, len(packed))
	}
	if c == nil {
		c = new(Compressor)
	}
	return c.inflate(packed, int(n))
}

// inflate returns the n bytes that packed is when it is inflated.
func (c *Compressor) inflate(packed []byte, n int) ([]byte, error) {
	c.in.Reset(packed)
	defer c.in.Reset(nil) // what belongs to a caller is not held on to
	if c.reader == nil {
		c.reader = flate.NewReader(&c.in)
	} else if err := c.reader.(flate.Resetter).Reset(&c.in, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValue, err)
	}
	if cap(c.unpacked) < n {
		c.unpacked = make([]byte, n)
	}
	stream := c.unpacked[:n]
	if _, err := io.ReadFull(c.reader, stream); err != nil {
		return nil, inflateError(err)
	}
	// The end must come where it should, too, so one more byte is asked for.
	switch k, err := c.reader.Read(c.last[:]); {
	case k > 0:
		return nil, fmt.Errorf("%w: more than the %d bytes of the stream", ErrLength, n)
	case err != io.EOF:
		return nil, inflateError(err)
	case c.in.Len() > 0:
		return nil, fmt.Errorf("%w: %d bytes", ErrTrailing, c.in.Len())
	}
	return stream, nil
}

func inflateError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: deflated bytes", ErrTruncated)
	}
	return fmt.Errorf("%w: %w", ErrValue, err)
}
