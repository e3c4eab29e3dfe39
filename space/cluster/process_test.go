package cluster_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/space/cluster"
)

// testProcess is a test of this package that is to run as a process of its own.
func testProcess(test string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.count=1", "-test.v")
	c.Env = append(os.Environ(), env...)
	return c
}

// startUntil starts such a process, and waits until it says a line that begins with word. It returns the
// rest of that line. The process ends with the test, or when in is closed.
func startUntil(t *testing.T, c *exec.Cmd, word string) (in io.WriteCloser, rest string, err error) {
	in, err = c.StdinPipe() // its end ends the process, should the test be killed
	if err != nil {
		return nil, "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := c.Start(); err != nil {
		return nil, "", err
	}
	t.Cleanup(func() { _ = in.Close(); _ = c.Process.Kill() })
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), word); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return in, rest, nil
		}
		said += lines.Text() + "\n"
	}
	return nil, "", fmt.Errorf("it has gone: %v: %s", c.Wait(), said)
}

// numberIn is the number in a variable of the environment, or what it is without it.
func numberIn(env string, without int) int {
	if s := os.Getenv(env); s != "" {
		n, _ := strconv.Atoi(s)
		return n
	}
	return without
}

// kept returns what takes the result of a start of cluster, and stops that when the test ends. By then
// parts of the world may be dead, so what Stop says does not matter.
func kept(t *testing.T) func(c *cluster.Cluster, err error) *cluster.Cluster {
	return func(c *cluster.Cluster, err error) *cluster.Cluster {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Stop() })
		return c
	}
}

// keptWhole is kept for a world in which nothing dies: it must stop without an error.
func keptWhole(t *testing.T) func(c *cluster.Cluster, err error) *cluster.Cluster {
	return func(c *cluster.Cluster, err error) *cluster.Cluster {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
		})
		return c
	}
}
