package property

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// maxUnknown is how many unknown names ReadStore lists; they are for a log.
const maxUnknown = 256

// AppendStore appends the persistent properties of the cell or of the base, which must be the side
// of v, as a MessagePack map of their full names to their store forms (see [DataType.AppendStore]),
// in index order. dom is CellStoreStream or BaseStoreStream. Errors are ErrSide, and ErrValue from
// the codec of a USER_TYPE; b is as it was then.
func (v *Values) AppendStore(b []byte, dom Stream) ([]byte, error) {
	if !v.stores(dom) {
		return b, fmt.Errorf("%w: %v, side %v", ErrSide, dom, v.side)
	}
	stream := v.def.Stream(dom)
	w := storeWriter{mpack.NewWriter(b)}
	_ = w.Enc.EncodeMapLen(len(stream))
	for _, i := range stream {
		p := v.def.Properties[i]
		_ = w.Enc.EncodeString(p.Name)
		if err := w.value(p.Type, v.Get(i), 1); err != nil {
			return b, fmt.Errorf("property %s.%s: %w", v.def.Name, p.Name, err)
		}
	}
	return w.B, nil
}

// ReadStore takes what [Values.AppendStore] wrote, possibly under an earlier edition of the
// definition, off the front of b, without telling the holder. The persistent properties that b
// lacks take their defaults, whatever they were. It takes every value or, with an error, none.
//
// unknown lists the first 256 names in b, in their order, that are not persistent properties of
// this side: the next AppendStore will forget them. Errors are ErrSide, ErrTruncated, ErrLength,
// ErrValue and ErrOversize, and name the property.
func (v *Values) ReadStore(b []byte, dom Stream) (unknown []string, rest []byte, err error) {
	if !v.stores(dom) {
		return nil, b, fmt.Errorf("%w: %v, side %v", ErrSide, dom, v.side)
	}
	n, err := mpack.ScanStore(b)
	if err != nil {
		return nil, b, fmt.Errorf("%s: %w", v.def.Name, err)
	}
	p := storedProperties{values: v, stream: v.def.Stream(dom)}
	if err := p.take(newStoreReader(b[:n])); err != nil {
		return nil, b, err
	}
	p.keep()
	return p.unknown, b[n:], nil
}

// SalvageStore is ReadStore for a definition that may have changed beyond what [DataType.ReadStore]
// bears: a property whose stored value does not fit any more takes its default, as if b lacked it.
// notices tell of those, each with the reason, and of the unknown names; at most 256 of each.
// Errors are ErrSide, ErrTruncated, ErrLength and ErrValue, for bytes that no definition could
// explain.
func (v *Values) SalvageStore(b []byte, dom Stream) (notices []string, rest []byte, err error) {
	if !v.stores(dom) {
		return nil, b, fmt.Errorf("%w: %v, side %v", ErrSide, dom, v.side)
	}
	n, err := mpack.ScanStore(b)
	if err != nil {
		return nil, b, fmt.Errorf("%s: %w", v.def.Name, err)
	}
	p := storedProperties{values: v, stream: v.def.Stream(dom), salvage: true}
	if err := p.take(newStoreReader(b[:n])); err != nil {
		return nil, b, err
	}
	p.keep()
	for _, name := range p.unknown {
		notices = append(notices, fmt.Sprintf("property %s.%s: it is stored, and the definition has it no more", v.def.Name, strings.ToValidUTF8(name, "?")))
	}
	return append(notices, p.unfit...), b[n:], nil
}

// stores reports whether the stream is one of the store, and of this side.
func (v *Values) stores(dom Stream) bool {
	return (dom == CellStoreStream || dom == BaseStoreStream) && v.side.Carries(dom)
}

// storedProperties is the reading of a map of properties.
type storedProperties struct {
	values  *Values
	stream  []int // the properties that may come
	salvage bool  // what does not fit is left out
	read    []Value
	seen    []bool
	unknown []string // names that are not of the stream
	unfit   []string // why values were left out
}

// take reads all of them; the values keep what they had.
func (s *storedProperties) take(r *storeReader) error {
	def := s.values.def
	if c := r.Class(); c != mpack.Map {
		return fmt.Errorf("%s: %w: %v where a map of properties is due", def.Name, ErrValue, c)
	}
	n, err := r.Dec.DecodeMapLen()
	if err != nil {
		return err
	}
	s.read, s.seen = make([]Value, len(s.stream)), make([]bool, len(s.stream))
	for range n {
		if err := s.takeOne(r); err != nil {
			return err
		}
	}
	for k, i := range s.stream {
		if !s.seen[k] {
			s.read[k] = def.Properties[i].Default
		}
	}
	return nil
}

// takeOne reads a name and its value.
func (s *storedProperties) takeOne(r *storeReader) error {
	def := s.values.def
	name, err := r.name()
	if err != nil {
		return fmt.Errorf("%s: %w", def.Name, err)
	}
	k := -1
	if p := def.Property(string(name)); p != nil {
		k = slices.Index(s.stream, p.Index)
	}
	if k < 0 {
		if len(s.unknown) < maxUnknown {
			s.unknown = append(s.unknown, string(name[:min(len(name), MaxName)]))
		}
		return r.SkipValue()
	}
	p := def.Properties[s.stream[k]]
	if s.seen[k] {
		return fmt.Errorf("property %s.%s: %w: it comes twice", def.Name, p.Name, ErrValue)
	}
	s.seen[k] = true
	if !s.salvage {
		s.read[k], err = s.value(r, p)
		return err
	}
	own := &storeReader{mpack.NewReader(r.B[r.At():]), r.filled}
	if err := r.SkipValue(); err != nil {
		return err
	}
	v, err := s.value(own, p)
	r.filled = own.filled
	if err != nil {
		v = p.Default
		if len(s.unfit) < maxUnknown {
			s.unfit = append(s.unfit, err.Error())
		}
	}
	s.read[k] = v
	return nil
}

// value reads the value of a property.
func (s *storedProperties) value(r *storeReader, p *Property) (Value, error) {
	v, err := r.value(p.Type, 1)
	if err != nil {
		return v, fmt.Errorf("property %s.%s: %w", s.values.def.Name, p.Name, err)
	}
	return v, s.values.checkSize(p, p.Type.variableSize(&v))
}

// keep puts what was read into the values.
func (s *storedProperties) keep() {
	v := s.values
	for k, i := range s.stream {
		v.store(v.def.slot(v.side, i), nil, s.read[k], v.def.Properties[i].Type.variableSize(&s.read[k]))
	}
}
