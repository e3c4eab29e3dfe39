package secure

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/mercury"
)

// ends is a pair of sessions with the same secrets.
func ends(suite Suite) (a, b *session) {
	up, down := secret{1}, secret{2}
	return newSession(suite, mercury.Stranger, up, down), newSession(suite, mercury.Stranger, down, up)
}

const epochSize = 1 << epochBits

// packetOf makes the sealed packet of a number.
func packetOf(s *session, number uint64) []byte {
	packet := make([]byte, 4, 64)
	packet = fmt.Appendf(packet, "packet %d", number)
	return s.Seal(packet, 4, number)
}

func opens(t *testing.T, s *session, packet []byte, number uint64) {
	t.Helper()
	got, err := s.Open(bytes.Clone(packet), 4, number)
	if want := fmt.Sprintf("packet %d", number); err != nil || string(got) != want {
		t.Errorf("opened %q, %v, want %q", got, err, want)
	}
}

func opensNot(t *testing.T, s *session, packet []byte, number uint64) {
	t.Helper()
	if _, err := s.Open(bytes.Clone(packet), 4, number); !errors.Is(err, ErrPacket) {
		t.Errorf("number %d opened: %v", number, err)
	}
}

func TestEpochRollsOverAmidReordering(t *testing.T) {
	for _, suite := range []Suite{AESGCM, ChaChaPoly} {
		a, b := ends(suite)
		for _, dir := range [][2]*session{{a, b}, {b, a}} {
			from, to := dir[0], dir[1]
			random := rand.New(rand.NewPCG(1, uint64(suite)))
			for epoch := range uint64(4) {
				// Twenty packets about the end of an epoch, in any order.
				base := (epoch+1)*epochSize - 10
				var packets [20][]byte
				for i := range packets {
					packets[i] = packetOf(from, base+uint64(i))
				}
				for _, i := range random.Perm(len(packets)) {
					opens(t, to, packets[i], base+uint64(i))
				}
				if to.in.epoch != epoch+1 || from.out.epoch != epoch+1 {
					t.Fatalf("epochs %d and %d, want %d", from.out.epoch, to.in.epoch, epoch+1)
				}
			}
		}
	}
}

func TestEpochsHaveTheirOwnKeys(t *testing.T) {
	a, b := ends(AESGCM)
	first := packetOf(a, 7)
	opens(t, b, first, 7)
	opensNot(t, b, first, 7+epochSize)
	same := packetOf(a, 7+epochSize)
	if bytes.Equal(first[4:11], same[4:11]) {
		t.Error("the key stream of an epoch is that of the one before")
	}
}

func TestTwoEpochsBackOpensNoMore(t *testing.T) {
	a, b := ends(AESGCM)
	late := packetOf(a, epochSize-1)
	opens(t, b, packetOf(a, epochSize), epochSize)
	opens(t, b, late, epochSize-1)
	opens(t, b, packetOf(a, 2*epochSize), 2*epochSize)
	opensNot(t, b, late, epochSize-1)
}

// However large the numbers that a forger writes, the receiver derives the keys of one epoch, once,
// and stays where it is.
func TestForgedNumbersDoNotMoveTheEpoch(t *testing.T) {
	a, b := ends(AESGCM)
	forged := make([]byte, 40)
	for range 3 {
		for shift := range 64 {
			opensNot(t, b, forged, 1<<shift)
		}
	}
	made, coming := b.in.beside.after.aead, b.in.coming
	if made == nil {
		t.Fatal("no keys of the next epoch, although packets claimed to be of it")
	}
	opensNot(t, b, forged, epochSize+1)
	if b.in.epoch != 0 || b.in.beside.after.aead != made || b.in.coming != coming {
		t.Error("a forged number moved the receiver on")
	}
	opens(t, b, packetOf(a, 0), 0)
	opensNot(t, b, packetOf(a, 2*epochSize), 2*epochSize) // a whole epoch lost: not within the life of a channel
}

func TestSessionEndsAfterTooManyForgeries(t *testing.T) {
	a, b := ends(AESGCM)
	b.in.forgeries = maxForgeries - 1
	opens(t, b, packetOf(a, 0), 0)
	opensNot(t, b, make([]byte, 40), 1)
	opensNot(t, b, packetOf(a, 2), 2)
}

func TestSealAndOpenAllocateNothing(t *testing.T) {
	for _, suite := range []Suite{AESGCM, ChaChaPoly} {
		for _, size := range []int{0, 100, 1200} {
			a, b := ends(suite)
			buffer := make([]byte, 1400)
			number := uint64(0)
			got := testing.AllocsPerRun(200, func() {
				packet := a.Seal(buffer[:24+size], 24, number)
				if _, err := b.Open(packet, 24, number); err != nil {
					t.Fatal(err)
				}
				number++
			})
			if got != 0 {
				t.Errorf("%v, %d bytes: %v allocations", suite, size, got)
			}
			got = testing.AllocsPerRun(200, func() { _, _ = b.Open(buffer[:100], 24, number) })
			if got != 0 {
				t.Errorf("%v, %d bytes: a forged packet costs %v allocations", suite, size, got)
			}
		}
	}
}
