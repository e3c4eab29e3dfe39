package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
)

// magic begins each log.
const magic = "cellrec\x01"

const frameHead = 8

// AppendLog begins a log: the magic, and the header.
func AppendLog(b []byte, h *Header) []byte { return AppendFrame(append(b, magic...), h.Append(nil)) }

// AppendFrame adds a chunk, or the header.
func AppendFrame(b, body []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, checksum(body))
	return append(b, body...)
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Log is a log that can be read. It keeps where its chunks are, 24 bytes for each, and reads them when
// they are asked for.
type Log struct {
	Header
	// Truncated says why the log has no more chunks than it has: it ended in the middle of one,
	// or had bytes that were not written so. nil if it ends with a whole chunk.
	Truncated error

	r      io.ReaderAt
	chunks []mark
	body   []byte
}

type mark struct {
	at     int64 // of the body
	game   time.Duration
	length uint32
	key    bool
	gap    bool
}

// ReadLog opens a log of so many bytes. An error is of r, or says that this is no log at all; what is
// wrong later is Truncated.
func ReadLog(r io.ReaderAt, size int64) (*Log, error) {
	l := &Log{r: r}
	head := make([]byte, len(magic))
	if err := l.readAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head) != magic {
		return nil, fmt.Errorf("%w: this is no log of a recording", ErrMalformed)
	}
	m, err := l.frame(int64(len(magic)), size)
	if err == nil {
		err = l.Header.Parse(l.body)
	}
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for at := m.at + int64(m.length); at < size; at = m.at + int64(m.length) {
		if m, err = l.frame(at, size); err != nil {
			break
		}
		h, err := ReadHead(l.body)
		if err == nil && len(l.chunks) > 0 && h.Game < l.chunks[len(l.chunks)-1].game {
			err = fmt.Errorf("%w: game time goes back", ErrMalformed)
		}
		if err == nil && len(l.chunks) == MaxChunks {
			err = fmt.Errorf("%w: more than %d chunks", ErrMalformed, MaxChunks)
		}
		if err != nil {
			l.Truncated = err
			return l, nil
		}
		m.game, m.key, m.gap = h.Game, h.Key, h.Gap
		l.chunks = append(l.chunks, m)
	}
	if err != nil && !errors.Is(err, ErrMalformed) {
		return nil, err
	}
	l.Truncated = err
	return l, nil
}

// readAt fills b.
func (l *Log) readAt(b []byte, at int64) error {
	if n, err := l.r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

// frame reads a frame into l.body.
func (l *Log) frame(at, size int64) (m mark, err error) {
	var b [frameHead]byte
	if size-at < frameHead {
		return m, fmt.Errorf("%w: the log ends in a frame at %d", ErrMalformed, at)
	}
	if err := l.readAt(b[:], at); err != nil {
		return m, err
	}
	r := codec.NewReader(b[:])
	m.length, m.at = r.U32(), at+frameHead
	sum := r.U32()
	if m.length > MaxChunk || int64(m.length) > size-m.at {
		return m, fmt.Errorf("%w: the log ends in a frame of %d bytes at %d", ErrMalformed, m.length, at)
	}
	if err := l.load(&m); err != nil {
		return m, err
	}
	if checksum(l.body) != sum {
		return m, fmt.Errorf("%w: frame at %d: wrong checksum", ErrMalformed, at)
	}
	return m, nil
}

func (l *Log) load(m *mark) error {
	if cap(l.body) < int(m.length) {
		l.body = make([]byte, m.length)
	}
	l.body = l.body[:m.length]
	return l.readAt(l.body, m.at)
}

// Len is the number of chunks.
func (l *Log) Len() int { return len(l.chunks) }

// Head is that of a chunk.
func (l *Log) Head(i int) Head {
	return Head{Game: l.chunks[i].game, Key: l.chunks[i].key, Gap: l.chunks[i].gap}
}

// Read reads a chunk.
func (l *Log) Read(i int, to Reader) error {
	if err := l.load(&l.chunks[i]); err != nil {
		return err
	}
	_, err := ReadChunk(l.body, to)
	return err
}
