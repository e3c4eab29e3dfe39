package main

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

// The reference is the least that any server does for a datagram to a player: to seal 200 bytes, and
// to bring them through the kernel. What the world costs is told as a multiple of it, too, so that a
// slide shows on whatever machine the test runs.
const (
	referenceBytes = 200
	references     = 10_000 // in one round: some tens of milliseconds
	rounds         = 9
)

// reference is the processor time of one datagram that is sealed, sent over the loopback and received: the
// median of some rounds, since others may have a hand in one.
func reference() (cost time.Duration, err error) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return 0, err
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return 0, err
	}
	in, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := net.DialUDP("udp4", nil, in.LocalAddr().(*net.UDPAddr))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var costs [rounds]time.Duration
	for i := range costs {
		if costs[i], err = once(seal, in, out); err != nil {
			return 0, err
		}
	}
	slices.Sort(costs[:])
	return costs[rounds/2], nil
}

// once is the processor time of a datagram in one round.
func once(seal cipher.AEAD, in, out *net.UDPConn) (time.Duration, error) {
	before, err := ownTime()
	if err != nil {
		return 0, err
	}
	nonce, plain, sealed := make([]byte, seal.NonceSize()), make([]byte, referenceBytes), make([]byte, 0, 2*referenceBytes)
	for i := range references {
		nonce[0], nonce[1] = byte(i), byte(i>>8)
		sealed = seal.Seal(sealed[:0], nonce, plain, nil)
		if _, err := out.Write(sealed); err != nil {
			return 0, err
		}
		if err := in.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return 0, err
		}
		if _, err := in.Read(sealed[:cap(sealed)]); err != nil {
			return 0, err
		}
	}
	after, err := ownTime()
	return (after - before) / references, err
}

// ownTime is the processor time of this process so far: of a short time it tells more than used.
func ownTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
