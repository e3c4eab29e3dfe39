package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestReaderRoundTrip(t *testing.T) {
	b := []byte{7}
	b = binary.LittleEndian.AppendUint16(b, 0x1234)
	b = binary.LittleEndian.AppendUint32(b, 0x12345678)
	b = binary.LittleEndian.AppendUint64(b, 1<<60)
	b = binary.AppendUvarint(b, math.MaxUint64)
	b = binary.AppendVarint(b, math.MinInt64)
	b = AppendF32(b, -1.5)
	b = AppendF64(b, math.Inf(1))
	b = AppendBool(AppendBool(b, true), false)
	b = AppendBytes(b, []byte("abc"))
	b = AppendString(b, "def")
	b = binary.AppendUvarint(b, 2)
	b = append(b, "rest"...)
	r := NewReader(b)
	ok := r.U8() == 7 && r.U16() == 0x1234 && r.U32() == 0x12345678 && r.U64() == 1<<60 &&
		r.Uvarint() == math.MaxUint64 && r.Varint() == math.MinInt64 && r.F32() == -1.5 && math.IsInf(r.F64(), 1) &&
		r.Bool() && !r.Bool() && string(r.Bytes(3)) == "abc" && r.String(3) == "def" &&
		r.Count(2, 2) == 2 && string(r.Rest()) == "rest"
	if !ok || r.Close() != nil {
		t.Fatalf("read something else than was written; error %v", r.Err())
	}
}

func TestReaderFaults(t *testing.T) {
	tests := []struct {
		name string
		in   string
		read func(r *Reader)
		want error
	}{
		{"u32 cut", "abc", func(r *Reader) { r.U32() }, ErrShort},
		{"uvarint cut", "\x80", func(r *Reader) { r.Uvarint() }, ErrShort},
		{"uvarint padded", "\x81\x00", func(r *Reader) { r.Uvarint() }, ErrValue},
		{"uvarint too big", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", func(r *Reader) { r.Uvarint() }, ErrValue},
		{"bool of 2", "\x02", func(r *Reader) { r.Bool() }, ErrValue},
		{"bytes above limit", "\x04abcd", func(r *Reader) { r.Bytes(3) }, ErrLength},
		{"bytes cut", "\x04abc", func(r *Reader) { r.Bytes(100) }, ErrShort},
		{"bytes of 2^63", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", func(r *Reader) { r.Bytes(100) }, ErrLength},
		{"count above limit", "\x04abcd", func(r *Reader) { r.Count(3, 1) }, ErrLength},
		{"count without bytes", "\x04abcdefg", func(r *Reader) { r.Count(10, 2) }, ErrShort},
		{"left over", "ab", func(r *Reader) { r.U8() }, ErrTrailing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader([]byte(test.in))
			test.read(&r)
			if err := r.Close(); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if r.U64() != 0 || r.Bytes(10) != nil || r.Len() != 0 || !errors.Is(r.Err(), test.want) {
				t.Error("the first fault does not stick")
			}
		})
	}
}

// FuzzReader reads arbitrary bytes by an arbitrary program and checks that nothing is read twice or
// beyond the end.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"), []byte("\x01\x02\x03\x04\x04\x0a\x00\x00\x01\x50\x00\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, program, data []byte) {
		r := NewReader(bytes.Clone(data))
		for _, op := range program {
			before, failed := r.Len(), r.Err() != nil
			switch op % 11 {
			case 0:
				r.U8()
			case 1:
				r.U16()
			case 2:
				r.U32()
			case 3:
				r.U64()
			case 4:
				r.Uvarint()
			case 5:
				r.Varint()
			case 6:
				r.Bool()
			case 7:
				if len(r.Bytes(16)) > 16 {
					t.Fatal("Bytes above its limit")
				}
			case 8:
				_ = r.String(16)
			case 9:
				if n := r.Count(1000, 3); n > 1000 || n*3 > r.Len() {
					t.Fatalf("Count gave %d with %d bytes left", n, r.Len())
				}
			case 10:
				r.F64()
			}
			if r.Len() > before || failed && (r.Len() != 0 || r.Err() == nil) {
				t.Fatal("a Reader grew, or recovered from a fault")
			}
		}
	})
}
