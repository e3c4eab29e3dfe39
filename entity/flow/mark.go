package flow

// Mark is a place in a stream: the number of a message, and the incarnation of its sender in which that
// number meant this message. Marks of one sender rise: whatever a restored sender says anew comes after
// all that the former one said.
type Mark uint64

// markBits is the room for numbers. A flow to a cell part has one for each message: at a million a
// second they last for twelve days, and 2^24 incarnations of a base outlast any cluster.
const markBits = 40

// MarkOf is the mark of a number.
func MarkOf(stream uint32, number uint64) Mark {
	return Mark(uint64(stream)<<markBits | number&(1<<markBits-1))
}

// Stream is the incarnation.
func (m Mark) Stream() uint32 { return uint32(m >> markBits) }

// Number is the number in it.
func (m Mark) Number() uint64 { return uint64(m) & (1<<markBits - 1) }

// Handled is the mark up to which everything was delivered.
func (in *Receiver) Handled() Mark {
	h := in.handled()
	return MarkOf(h.stream, h.last)
}

// Delivering is the mark of the message that is being delivered.
func (in *Receiver) Delivering() Mark { return MarkOf(in.born, in.last) }

// Known is the last number of this flow that a target has handled which has handled a mark; the sender
// is of the given incarnation.
func (o *Sender) Known(m Mark, stream uint32) uint64 { return o.known(m.Stream(), m.Number(), stream) }

// known is the same for a number in a stream. Of an incarnation that this one does not go on from it
// says nothing: numbers may have meant other messages there (see spoken).
func (o *Sender) known(in uint32, number uint64, stream uint32) uint64 {
	if in >= stream {
		return number
	}
	for i := len(o.births) - 1; i >= 0; i-- {
		switch x := o.births[i]; {
		case x.stream == in, x.stream < in && in == o.parent:
			return min(number, x.upTo)
		case x.stream < in:
			return 0
		}
	}
	return 0
}
