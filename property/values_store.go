package property

import (
	"fmt"
	"slices"

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
	read, unknown, err := v.readProperties(newStoreReader(b[:n]), v.def.Stream(dom))
	if err != nil {
		return nil, b, err
	}
	for k, i := range v.def.Stream(dom) {
		v.store(v.def.slot(v.side, i), nil, read[k], v.def.Properties[i].Type.variableSize(&read[k]))
	}
	return unknown, b[n:], nil
}

// stores reports whether the stream is one of the store, and of this side.
func (v *Values) stores(dom Stream) bool {
	return (dom == CellStoreStream || dom == BaseStoreStream) && v.side.Carries(dom)
}

// readProperties returns the values of the properties of a stream, in its order.
func (v *Values) readProperties(r *storeReader, stream []int) (read []Value, unknown []string, err error) {
	if c := r.Class(); c != mpack.Map {
		return nil, nil, fmt.Errorf("%s: %w: %v where a map of properties is due", v.def.Name, ErrValue, c)
	}
	n, err := r.Dec.DecodeMapLen()
	if err != nil {
		return nil, nil, err
	}
	read, seen := make([]Value, len(stream)), make([]bool, len(stream))
	for range n {
		name, err := r.name()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", v.def.Name, err)
		}
		k := -1
		if p := v.def.Property(string(name)); p != nil {
			k = slices.Index(stream, p.Index)
		}
		if k < 0 {
			if len(unknown) < maxUnknown {
				unknown = append(unknown, string(name[:min(len(name), MaxName)]))
			}
			if err := r.SkipValue(); err != nil {
				return nil, nil, err
			}
			continue
		}
		p := v.def.Properties[stream[k]]
		if seen[k] {
			return nil, nil, fmt.Errorf("property %s.%s: %w: it comes twice", v.def.Name, p.Name, ErrValue)
		}
		if read[k], err = r.value(p.Type, 1); err != nil {
			return nil, nil, fmt.Errorf("property %s.%s: %w", v.def.Name, p.Name, err)
		}
		if err := v.checkSize(p, p.Type.variableSize(&read[k])); err != nil {
			return nil, nil, err
		}
		seen[k] = true
	}
	for k, i := range stream {
		if !seen[k] {
			read[k] = v.def.Properties[i].Default
		}
	}
	return read, unknown, nil
}
