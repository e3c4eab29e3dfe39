package secure

import (
	"encoding/binary"
	"errors"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// epochBits makes the keys of a direction change after 2^20 packets, below the 2^23 that RFC
	// 9001, section 6.6, allows for AES-GCM. At 60 packets a second that is five hours.
	epochBits = 20
	// maxForgeries is the number of packets that fail to open after which a session opens no more:
	// the limit of RFC 9001, section 6.6, for ChaCha20-Poly1305, the smaller of the two.
	maxForgeries = 1 << 36
)

// ErrPacket is returned for a packet that does not open: forged, garbled, with other keys, or too
// far ahead. It deliberately does not say which.
var ErrPacket = errors.New("secure: packet does not open")

// session protects the packets of one channel. It is the Sealer of this package.
type session struct {
	out outbound
	in  inbound
	// once is used at the first packet that opens, and then dropped.
	once *firstUse
	// nonce is scratch. On the stack it would escape through the AEAD's interface, with an
	// allocation for each packet.
	nonce [nonceSize]byte
	suite Suite
	// standing is what the handshake has proved of the peer.
	standing mercury.Standing
}

// newSession takes the secrets of epoch 0, and does not keep them.
func newSession(s Suite, standing mercury.Standing, send, receive secret) *session {
	x := session{suite: s, standing: standing}
	x.out = outbound{keys: s.packetKeys(&send), coming: send.after()}
	x.in = inbound{now: s.packetKeys(&receive), coming: receive.after()}
	return &x
}

// Seal implements mercury.Sealer. It panics if number is not above all earlier ones, because using
// a number twice under one key would reveal both packets.
func (x *session) Seal(packet []byte, head int, number uint64) []byte {
	o := &x.out
	if number < o.next || number == 1<<64-1 {
		panic("secure: a packet number is sealed twice, or out of order")
	}
	o.next = number + 1
	for o.epoch < number>>epochBits {
		o.keys = x.suite.packetKeys(&o.coming)
		o.coming = o.coming.after()
		o.epoch++
	}
	o.keys.nonce(&x.nonce, number)
	return o.keys.aead.Seal(packet[:head], x.nonce[:], packet[head:], packet[:head])
}

// Open implements mercury.Sealer.
func (x *session) Open(packet []byte, head int, number uint64) ([]byte, error) {
	plain, err := x.open(packet, head, number)
	if err != nil || x.once == nil {
		return plain, err
	}
	if !x.once.take() {
		x.in.forgeries = maxForgeries // this session is a second one of the same pass
		return nil, ErrPacket
	}
	x.once = nil
	return plain, nil
}

// Standing implements mercury.Sealer.
func (x *session) Standing() mercury.Standing { return x.standing }

// firstUse is the right to be the only session of a pass.
type firstUse struct {
	used *strikes
	id   strikeID
}

// take takes the right, and reports whether it was free.
func (f *firstUse) take() bool { return f.used.add(f.id) }

// outbound is the sending direction.
type outbound struct {
	keys   packetKeys
	epoch  uint64
	next   uint64 // the lowest number that may be sealed
	coming secret // of the epoch after
}

// inbound is the receiving direction. It has the keys of up to three epochs.
type inbound struct {
	now       packetKeys
	beside    *neighbours // nil before a packet has claimed to be of epoch 1: most channels see no other than 0
	epoch     uint64
	coming    secret // of the epoch after the latest with keys
	forgeries uint64
}

// neighbours are the epochs beside the present one.
type neighbours struct {
	// before is the former epoch, for packets that were overtaken. It has no keys in epoch 0.
	before packetKeys
	// after is the next epoch, made when the first packet claims to be of it. It is kept, or each
	// forgery would cost a derivation.
	after packetKeys
}

func (x *session) open(packet []byte, head int, number uint64) ([]byte, error) {
	in := &x.in
	if head < 0 || len(packet) < head+tagSize || in.forgeries >= maxForgeries {
		return nil, ErrPacket
	}
	epoch := number >> epochBits
	keys := in.keysOf(epoch, x.suite)
	if keys == nil {
		return nil, ErrPacket
	}
	keys.nonce(&x.nonce, number)
	plain, err := keys.aead.Open(packet[head:head], x.nonce[:], packet[head:], packet[:head])
	if err != nil {
		in.forgeries++
		return nil, ErrPacket
	}
	if epoch > in.epoch { // only now: a forger must not move us on
		b := in.beside
		b.before, in.now, b.after = in.now, b.after, packetKeys{}
		in.epoch = epoch
	}
	return plain, nil
}

// keysOf returns the keys of an epoch, or nil. It derives at most one epoch ahead, however large a
// number a forger writes.
func (in *inbound) keysOf(epoch uint64, s Suite) *packetKeys {
	switch {
	case epoch == in.epoch:
		return &in.now
	case epoch+1 == in.epoch:
		return &in.beside.before
	case epoch == in.epoch+1:
		if in.beside == nil {
			in.beside = new(neighbours)
		}
		if in.beside.after.aead == nil {
			in.beside.after = s.packetKeys(&in.coming)
			in.coming = in.coming.after()
		}
		return &in.beside.after
	}
	return nil
}

// nonce is the IV with the number over its last eight bytes (RFC 8446, section 5.3).
func (k *packetKeys) nonce(n *[nonceSize]byte, number uint64) {
	*n = k.iv
	low := n[nonceSize-8:]
	binary.BigEndian.PutUint64(low, binary.BigEndian.Uint64(low)^number)
}
