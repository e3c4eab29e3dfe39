package keep

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

// packedLog is a compressed file of a log of some chunks.
func packedLog(t testing.TB, chunks int) (file, log []byte) {
	t.Helper()
	log = recording.AppendLog(nil, &recording.Header{Space: 1, Label: "x"})
	var e recording.Encoder
	for n := range chunks {
		e.Reset()
		for i := range 50 {
			d := recording.Datum{Number: uint64(n*50 + i + 1)}
			d.Key, d.Value = uint16(i), fmt.Append(nil, "value ", property.Vector3{X: float32(n * i)})
			e.Data(&d)
		}
		log = recording.AppendFrame(log, e.Chunk(recording.Head{Game: time.Duration(n) * time.Second, Key: n%10 == 0}))
	}
	enc, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	return appendBlocks([]byte(packedMagic), enc, log), log
}

// A log comes back from its blocks; one that ends anywhere, or has a wrong byte, is good up to there.
func TestPacked(t *testing.T) {
	file, log := packedLog(t, 400)
	if len(file)*2 > len(log) || len(log) < maxBlock {
		t.Errorf("%d bytes are %d when they are compressed", len(log), len(file))
	}
	l, err := readLog(bytes.NewReader(file), int64(len(file)))
	if err != nil || l.Truncated != nil || l.Len() != 400 {
		t.Fatal(err, l.Truncated, l.Len())
	}
	for n := 0; n < len(file); n += 1 + len(file)/300 {
		l, err := readLog(bytes.NewReader(file[:n]), int64(n))
		if err != nil && !errors.Is(err, recording.ErrMalformed) {
			t.Fatal(err)
		}
		if err == nil && l.Truncated == nil {
			t.Fatalf("%d of %d bytes are a whole log", n, len(file))
		}
		wrong := bytes.Clone(file)
		wrong[n] ^= 1
		if l, err := readLog(bytes.NewReader(wrong), int64(len(file))); err == nil && l.Truncated == nil {
			t.Fatalf("byte %d is wrong, and nobody says so", n)
		}
	}
	if plain, err := readLog(bytes.NewReader(log), int64(len(log))); err != nil || plain.Len() != 400 {
		t.Error("a file that is not compressed:", err)
	}
	file[len(packedMagic)-1]++
	if _, err := readLog(bytes.NewReader(file), int64(len(file))); !errors.Is(err, recording.ErrVersion) {
		t.Error(err)
	}
}

// What unpacks to more than it says, or says too much, is refused, and takes no more than a block.
func TestBomb(t *testing.T) {
	enc, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	bomb := enc.EncodeAll(make([]byte, 64<<20), nil)
	for _, says := range []int{len(bomb) + 1, maxBlock, maxBlock + 1, 64 << 20} {
		file := []byte(packedMagic)
		file = binary.LittleEndian.AppendUint32(file, uint32(says))
		file = binary.LittleEndian.AppendUint32(file, uint32(len(bomb)))
		file = binary.LittleEndian.AppendUint32(file, checksum(bomb))
		file = append(file, bomb...)
		var before, after uint64
		before = allocated()
		_, err := readLog(bytes.NewReader(file), int64(len(file)))
		after = allocated()
		if !errors.Is(err, recording.ErrMalformed) {
			t.Errorf("%d bytes that say %d: %v", len(bomb), says, err)
		}
		if took := after - before; took > 16<<20 {
			t.Errorf("%d bytes were allocated", took)
		}
	}
	zeros := make([]byte, maxBlock) // compresses too well: it is kept
	if b := appendBlocks(nil, enc, zeros); len(b) != maxBlock+blockHead {
		t.Errorf("%d bytes", len(b))
	}
}

func FuzzPacked(f *testing.F) {
	file, _ := packedLog(f, 3)
	f.Add(file)
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := readLog(bytes.NewReader(b), int64(len(b)))
		if err != nil && !errors.Is(err, recording.ErrMalformed) && !errors.Is(err, recording.ErrVersion) {
			t.Fatal(err)
		}
		if err == nil {
			_ = l.Len()
		}
	})
}

// allocated is how much was allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
