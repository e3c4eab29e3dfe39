package property

import "math/bits"

// Sizes of values as they travel: kept beside each value, so that what is too large to travel is refused when it is set.

// WireBounds returns the fewest and the most bytes that a value takes as it travels.
func (t *DataType) WireBounds() (least, most int) { return t.minWire, t.most() }

func (t *DataType) most() int {
	switch t.kind {
	case KindString, KindUnicodeString, KindBlob:
		return prefixed(MaxString)
	case KindAny:
		return prefixed(MaxAny)
	case KindUser:
		return prefixed(MaxUser)
	case KindMailbox:
		return mailboxFixed + 16
	case KindArray, KindTuple, KindMap:
		each := t.elem.most()
		if t.kind == KindMap {
			each += t.key.most()
		}
		if t.size > 0 {
			return min(t.size*each, MaxProperty)
		}
		return min(uvarintLen(MaxList)+MaxList*each, MaxProperty)
	case KindFixedDict:
		sum := 0
		if t.allowNone {
			sum = 1
		}
		for i := range t.fields {
			sum = min(sum+t.fields[i].Type.most(), MaxProperty)
		}
		return sum
	}
	return t.minWire
}

// variableSize returns how many bytes v takes as it travels, or 0 if every value of the type takes the same.
func (t *DataType) variableSize(v *Value) int {
	if t.fixed {
		return 0
	}
	return t.sizeOf(v)
}

// sizeOf returns how many bytes v takes as it travels.
func (t *DataType) sizeOf(v *Value) int {
	if t.fixed {
		return t.minWire
	}
	switch t.kind {
	case KindString, KindUnicodeString, KindBlob, KindAny:
		return prefixed(int(v.lo))
	case KindUser:
		return prefixed(len(v.user().wire))
	case KindMailbox:
		return mailboxFixed + len(v.Mailbox().At.Addr().AsSlice())
	case KindFixedDict:
		if v.kind == isNone {
			return 1
		}
	}
	return t.prefix(v.Len()) + t.sizeOfList(v)
}

func (t *DataType) sizeOfList(v *Value) int {
	list := v.list()
	if t.kind == KindArray && t.elem.fixed {
		return len(list) * t.elem.minWire
	}
	sum := 0
	for i := range list {
		sum += t.child(i).sizeOf(&list[i])
	}
	return sum
}

// prefix returns how many bytes come before a list of n elements.
func (t *DataType) prefix(n int) int {
	switch {
	case t.kind == KindMap:
		return uvarintLen(uint64(n / 2))
	case t.kind == KindFixedDict && t.allowNone:
		return 1
	case t.kind == KindFixedDict || t.size > 0:
		return 0
	}
	return uvarintLen(uint64(n))
}

func prefixed(n int) int { return uvarintLen(uint64(n)) + n }

func uvarintLen(u uint64) int { return (bits.Len64(u|1) + 6) / 7 }
