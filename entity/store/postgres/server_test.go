package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// local is a server that a test runs for itself.
type local struct {
	t    testing.TB
	bin  string // folder of its programs
	data string
	port int
	cmd  *exec.Cmd
	cred *syscall.Credential
}

// binaries finds the folder with initdb, or returns "".
func binaries() string {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// startLocal makes and starts a server on the loopback, or skips the test where none is installed.
func startLocal(t testing.TB) *local {
	t.Helper()
	l := &local{t: t, bin: binaries()}
	if l.bin == "" {
		t.Skip("passed over: CELLSCAPE_POSTGRES names no server, and no PostgreSQL is installed")
	}
	dir, err := os.MkdirTemp("", "cellscape-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if os.Getuid() == 0 { // which the server refuses to run as
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Skipf("passed over: PostgreSQL does not run as root, and %v", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		l.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	l.data = filepath.Join(dir, "data")
	if out, err := l.command("initdb", "-D", l.data, "-A", "trust", "-U", "cellscape", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.port = probe.Addr().(*net.TCPAddr).Port
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	l.start()
	t.Cleanup(func() { l.stop(syscall.SIGINT) })
	return l
}

func (l *local) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(l.bin, name), args...)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: l.cred}
	return c
}

func (l *local) url() string {
	return fmt.Sprintf("postgres://cellscape@127.0.0.1:%d/postgres?sslmode=disable", l.port)
}

// start starts the server and waits until it answers.
func (l *local) start() {
	l.t.Helper()
	l.cmd = l.command("postgres", "-D", l.data, "-p", strconv.Itoa(l.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=30")
	if err := l.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		conn, err := pgx.Connect(ctx, l.url())
		if err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(until) {
			l.t.Fatalf("the server does not answer: %v", err)
		}
	}
}

// stop ends the server: at once with SIGQUIT, which it takes for a crash, else in order.
func (l *local) stop(sig syscall.Signal) {
	if l.cmd == nil {
		return
	}
	if err := l.cmd.Process.Signal(sig); err != nil {
		l.t.Error(err)
	}
	var exit *exec.ExitError
	if err := l.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		l.t.Error(err)
	}
	l.cmd = nil
}
