package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme holds the README to what is in the tree: it shows the whole quickstart, and every
// place that it links to exists.
func TestReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(filepath.Join(root, "examples", "quickstart", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	const limit = 80
	if n := strings.Count(string(code), "\n"); n >= limit {
		t.Errorf("examples/quickstart/main.go has %d lines; the smallest world in full stays under %d", n, limit)
	}
	_, rest, _ := strings.Cut(string(readme), "<!-- quickstart -->\n```go\n")
	shown, _, _ := strings.Cut(rest, "```\n<!-- /quickstart -->")
	if shown != string(code) {
		t.Error("README.md does not show examples/quickstart/main.go as it is; paste it between the quickstart marks")
	}
	prose := strings.Replace(string(readme), string(code), "", 1)
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(prose, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("README.md links to %s, which is not there", m[1])
		}
	}
}
