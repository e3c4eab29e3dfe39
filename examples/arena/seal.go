package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cellscape/cellscape/mercury/secure"
)

// keyVariable is the environment variable that holds the world's key, for roles in separate OS
// processes: on a command line everyone on the machine could read it. Here bots are given the same
// key; the players of a real game get only its public half.
const keyVariable = "ARENA_KEY"

// sealKey is the world's key, zero for none.
func sealKey(f *flags) (key secure.PrivateKey, err error) {
	digits := os.Getenv(keyVariable)
	switch {
	case !f.seal:
		return key, nil
	case digits != "":
		if key, err = secure.ParsePrivateKey(digits); err == nil && key.IsZero() {
			err = errors.New("a key of only zeros")
		}
		if err != nil {
			return key, fmt.Errorf("$%s: %w: make one with openssl rand -hex 32", keyVariable, err)
		}
		return key, nil
	case f.role == "":
		return secure.GenerateKey(rand.Reader)
	case f.sealSet:
		return key, fmt.Errorf("-seal needs the key that all roles share in $%s: make one with openssl rand -hex 32", keyVariable)
	}
	fmt.Fprintf(os.Stderr, "not encrypted: there is no key in $%s\n", keyVariable)
	return key, nil
}

// printKey prints the key that an operator has of the world's.
func printKey(w io.Writer, key secure.PrivateKey) error {
	if key.IsZero() {
		return fmt.Errorf("there is no key in $%s: whoever reaches the page may set values", keyVariable)
	}
	_, err := fmt.Fprintln(w, key.ClusterKey().Operator().Hex())
	return err
}
