package call

// listCount is the number of lists in which calls are kept by channel. A closed channel costs a
// look at its list: with some hundred channels, that is little more than its own calls.
const listCount = 256

// list holds the calls whose channels share it, in the order of their requests.
type list struct{ first, last *call }

func (l *list) push(k *call) {
	k.prev, k.next = l.last, nil
	if l.last != nil {
		l.last.next = k
	} else {
		l.first = k
	}
	l.last = k
}

func (l *list) remove(k *call) {
	if k.prev != nil {
		k.prev.next = k.next
	} else {
		l.first = k.next
	}
	if k.next != nil {
		k.next.prev = k.prev
	} else {
		l.last = k.prev
	}
	k.prev, k.next = nil, nil
}
