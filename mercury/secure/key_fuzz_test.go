package secure_test

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/mercury/secure"
)

// Keys come from files and environments. Whatever is taken as one is written as the same digits.
func FuzzKeys(f *testing.F) {
	var k secure.ClusterKey
	f.Add(strings.Repeat("0f", secure.KeySize))
	f.Add(k.Observer().Hex())
	f.Add(k.Operator().Hex())
	f.Add("operator-")
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := secure.ParsePublicKey(s); err == nil && !strings.EqualFold(k.String(), s) {
			t.Errorf("%q is read as %q", s, k)
		}
		if k, err := secure.ParseAccessKey(s); err == nil && !strings.EqualFold(k.Hex(), s) {
			t.Errorf("%q is read as %q", s, k.Hex())
		}
		_, private := secure.ParsePrivateKey(s)
		_, ticket := secure.ParseTicketKey(s)
		_, cluster := secure.ParseClusterKey(s)
		if (private == nil) != (ticket == nil) || (ticket == nil) != (cluster == nil) {
			t.Errorf("%q: %v, %v, %v", s, private, ticket, cluster)
		}
	})
}
