package property

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Append appends the whole history, for offload and backup:
//
//	uvarint last, uvarint lost, uvarint stamp of each property with the OtherClient bit in order,
//	uvarint count, then per event: uvarint number, uvarint method, uvarint length, payload
func (h *History) Append(b []byte) []byte {
	b = h.appendStamps(b, h.lost)
	b = binary.AppendUvarint(b, uint64(len(h.events)))
	for _, e := range h.events {
		b = binary.AppendUvarint(b, uint64(e.Number))
		b = binary.AppendUvarint(b, uint64(e.Method))
		b = append(binary.AppendUvarint(b, uint64(len(e.Payload))), e.Payload...)
	}
	return b
}

// AppendGhost appends what a new ghost begins with: stamps and the last number, no events. Its
// watchers catch up from the stamps. One that is owed an event finds it Lost there.
func (h *History) AppendGhost(b []byte) []byte {
	lost := h.lost
	for _, e := range h.events {
		if !h.def.ClientMethods[e.Method].Unreliable {
			lost = e.Number
		}
	}
	return binary.AppendUvarint(h.appendStamps(b, lost), 0)
}

func (h *History) appendStamps(b []byte, lost EventNumber) []byte {
	b = binary.AppendUvarint(b, uint64(h.last))
	b = binary.AppendUvarint(b, uint64(lost))
	for i := range h.stamps {
		if h.numbered(i) {
			b = binary.AppendUvarint(b, uint64(h.stamps[i]))
		}
	}
	return b
}

// Read takes a history off the front of b, in place of what h held. It takes it whole or, with an
// error, leaves h as it was. Errors are ErrTruncated, ErrLength and ErrHistory.
func (h *History) Read(b []byte) (rest []byte, err error) {
	n := History{def: h.def, stamps: make([]EventNumber, len(h.def.Properties))}
	if rest, err = n.readStamps(b); err == nil {
		rest, err = n.readEvents(rest)
	}
	if err != nil {
		return b, fmt.Errorf("history of %s: %w", h.def.Name, err)
	}
	n.bound() // a no-op for what Append wrote
	*h = n
	return rest, nil
}

func (h *History) readStamps(b []byte) (rest []byte, err error) {
	if h.last, b, err = readNumber(b, math.MaxUint32); err != nil {
		return b, err
	}
	if h.lost, b, err = readNumber(b, h.last); err != nil {
		return b, err
	}
	for i := range h.stamps {
		if !h.numbered(i) {
			continue
		}
		if h.stamps[i], b, err = readNumber(b, h.last); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (h *History) readEvents(b []byte) (rest []byte, err error) {
	const eventMin = 3 // bytes of an event without payload
	count, b, err := readCount(b, MaxHistory, eventMin)
	if err != nil {
		return b, err
	}
	h.events = make([]Event, count)
	previous := h.lost
	for i := range h.events {
		e := &h.events[i]
		if e.Number, b, err = readNumber(b, h.last); err != nil {
			return b, err
		}
		if e.Number <= previous {
			return b, fmt.Errorf("%w: event %d after %d", ErrHistory, e.Number, previous)
		}
		previous = e.Number
		method, after, err := readUvarint(b)
		if err != nil {
			return b, err
		}
		if method >= uint64(len(h.def.ClientMethods)) {
			return b, fmt.Errorf("%w: client method %d", ErrHistory, method)
		}
		e.Method = int(method)
		n, after, err := readCount(after, MaxPayload, 1)
		if err != nil {
			return b, err
		}
		e.Payload, b = slices.Clone(after[:n]), after[n:]
		h.bytes += n
	}
	return b, nil
}

func readNumber(b []byte, limit EventNumber) (EventNumber, []byte, error) {
	u, rest, err := readUvarint(b)
	if err != nil {
		return 0, b, err
	}
	if u > uint64(limit) {
		return 0, b, fmt.Errorf("%w: number %d above %d", ErrHistory, u, limit)
	}
	return EventNumber(u), rest, nil
}
