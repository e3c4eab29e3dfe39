package keep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/cellscape/cellscape/space/recording"
)

// This file has how a log is compressed in its file, in blocks that can be read one by one:
//
//	file  = magic block ...
//	block = length, length as kept (4 bytes each), CRC-32C of what follows (4 bytes), zstd of a part of the log
//
// A block whose lengths are the same is kept as it is.

// packedMagic begins a compressed file; its last byte is the version.
const packedMagic = "cellzst\x01"

const (
	blockHead = 12
	// maxBlock bounds what a block unpacks to, and so what reading a file takes.
	maxBlock = 256 << 10
	// maxRatio bounds how much longer it is than what is kept, so that a small file is no long one. What
	// compresses better, which real logs do not, is kept as it is.
	maxRatio = 256
	// blockFill is how much makes a block at once, and blockDelay how long less than that waits for more:
	// it is lost with a process that is killed.
	blockFill  = 64 << 10
	blockDelay = time.Second
)

var errPacked = fmt.Errorf("%w: a compressed block", recording.ErrMalformed)

// newPacker returns what compresses blocks, for any number of goroutines.
func newPacker() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(maxBlock), zstd.WithLowerEncoderMem(true))
}

// appendBlocks adds the blocks of a part of a log.
func appendBlocks(b []byte, enc *zstd.Encoder, part []byte) []byte {
	for len(part) > 0 {
		n := min(len(part), maxBlock)
		raw := part[:n]
		part = part[n:]
		head := len(b)
		b = enc.EncodeAll(raw, append(b, make([]byte, blockHead)...))
		if kept := len(b) - head - blockHead; kept >= n || kept*maxRatio < n {
			b = append(b[:head+blockHead], raw...)
		}
		body := b[head+blockHead:]
		binary.LittleEndian.PutUint32(b[head:], uint32(n))
		binary.LittleEndian.PutUint32(b[head+4:], uint32(len(body)))
		binary.LittleEndian.PutUint32(b[head+8:], checksum(body))
	}
	return b
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// unpacker reads the log of a compressed file. It holds one block.
type unpacker struct {
	r      io.ReaderAt
	dec    *zstd.Decoder
	blocks []block
	size   int64 // of the log
	torn   error // why the file has no more blocks
	has    int   // the block that is in b, -1 for none
	b      []byte
	kept   []byte
}

// block is where a block is.
type block struct {
	from         int64 // in the log
	at           int64 // in the file
	length, kept uint32
	sum          uint32
}

func newUnpacker(r io.ReaderAt, size int64) (*unpacker, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxBlock), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	u := &unpacker{r: r, dec: dec, has: -1}
	for at := int64(len(packedMagic)); at < size; {
		var h [blockHead]byte
		if size-at < blockHead {
			u.torn = fmt.Errorf("%w at %d: the file ends in it", errPacked, at)
			break
		}
		if _, err := r.ReadAt(h[:], at); err != nil {
			return nil, fmt.Errorf("keep: %w", err)
		}
		x := block{u.size, at + blockHead, binary.LittleEndian.Uint32(h[:]), binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:])}
		if u.torn = x.check(size); u.torn != nil {
			break
		}
		u.blocks = append(u.blocks, x)
		u.size += int64(x.length)
		at = x.at + int64(x.kept)
	}
	return u, nil
}

// check refuses a block that no file has.
func (x *block) check(size int64) error {
	switch {
	case x.length == 0 || x.length > maxBlock || x.kept == 0 || x.kept > x.length || int64(x.kept)*maxRatio < int64(x.length):
		return fmt.Errorf("%w at %d: %d bytes of %d", errPacked, x.at, x.length, x.kept)
	case x.at+int64(x.kept) > size:
		return fmt.Errorf("%w at %d: the file ends in it", errPacked, x.at)
	}
	return nil
}

// ReadAt implements io.ReaderAt, for one goroutine.
func (u *unpacker) ReadAt(p []byte, from int64) (n int, err error) {
	for n < len(p) {
		at := from + int64(n)
		if at < 0 || at >= u.size {
			return n, io.EOF
		}
		i := sort.Search(len(u.blocks), func(i int) bool { return u.blocks[i].from > at }) - 1
		if err := u.load(i); err != nil {
			return n, err
		}
		n += copy(p[n:], u.b[at-u.blocks[i].from:])
	}
	return n, nil
}

// load unpacks a block.
func (u *unpacker) load(i int) error {
	if u.has == i {
		return nil
	}
	x := &u.blocks[i]
	u.has = -1
	u.kept = sized(u.kept, int(x.kept))
	if _, err := u.r.ReadAt(u.kept, x.at); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	if checksum(u.kept) != x.sum {
		return fmt.Errorf("%w at %d: wrong checksum", errPacked, x.at)
	}
	u.b = sized(u.b, int(x.length))
	if x.kept == x.length {
		copy(u.b, u.kept)
		u.has = i
		return nil
	}
	b, err := u.dec.DecodeAll(u.kept, u.b[:0:x.length])
	if err == nil && len(b) != int(x.length) {
		err = errors.New("another length")
	}
	if err != nil {
		return fmt.Errorf("%w at %d: %w", errPacked, x.at, err)
	}
	u.b, u.has = b, i
	return nil
}

// sized is a slice of n bytes, b if that has room.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// readLog reads the log of a file, compressed or, as older libraries wrote them, not.
func readLog(r io.ReaderAt, size int64) (*recording.Log, error) {
	var magic [len(packedMagic)]byte
	if size >= int64(len(magic)) {
		if _, err := r.ReadAt(magic[:], 0); err != nil {
			return nil, fmt.Errorf("keep: %w", err)
		}
	}
	const name = len(packedMagic) - 1
	switch {
	case string(magic[:name]) != packedMagic[:name]:
		return recording.ReadLog(r, size)
	case magic[name] != packedMagic[name]:
		return nil, fmt.Errorf("%w: the file is compressed by version %d, version %d is read here; play it with the library that wrote it", recording.ErrVersion, magic[name], packedMagic[name])
	}
	u, err := newUnpacker(r, size)
	if err != nil {
		return nil, err
	}
	l, err := recording.ReadLog(u, u.size)
	if err == nil && l.Truncated == nil {
		l.Truncated = u.torn
	}
	return l, err
}
