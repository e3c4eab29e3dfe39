// Package recording is how a recording of a space is kept: what other clients may see of its
// entities, tick by tick, and properties that are exposed for replay besides. Package space writes
// it, package space/recording/keep keeps it in files, and package space/replay plays it back.
//
// # What a game does
//
// A CellApp that may record is given a Sink (cellapp.Config.Recorder, cluster.Config.Recorder). A
// space is recorded while its data has an entry with Key. Any script, cell part or base, sets and
// removes it like others (a longer label than MaxLabel is cut):
//
//	avatar.SetSpaceData(recording.Key, []byte("final"))   // begins; the value is the recording's label
//	avatar.RemoveSpaceData(recording.Key, 0)              // ends
//
// entity.SpaceInfo.Data may have it, too, so that a space is recorded from its first moment. All
// cells of the space see it, those that are made later too. Another value ends one recording and
// begins the next. Clients are told of the entry as of all space data, so a game can show that it
// records.
//
// # What is in it
//
//	of an entity                 recorded
//	properties                   those with ExposedForReplay, of cell and base: OTHER_CLIENTS and
//	                             ALL_CLIENTS unless a .def file says false, others if it says true
//	client methods               calls to those who see it, unless ReplayExposureLevel is NONE; with
//	                             ALL_CLIENTS also those to its own client
//	place                        each tick in which it has moved, at Resolution
//	SetWithheld                  it is not in the recording meanwhile
//	place of who rides           its seat on the vehicle, each tick in which it has another one; where it
//	                             is in the world while the vehicle is withheld, of a type without a
//	                             client, or not on its cell
//	of a type without a client   nothing
//
// Detail levels and areas of interest do not matter. What a base calls at its client by itself passes no
// cell and is not in it.
//
// # How it is kept
//
// Each cell writes one Log: a Header, then one chunk for each tick in which something happened, or
// several if one is long.
//
//	log     = magic frame(header) frame(chunk) ...
//	frame   = length (4 bytes) CRC-32C (4 bytes) body
//	chunk   = game time, whether a key frame begins, whether after a gap, records
//	record  = State | Ride | Place | Change | Call | Gone on | End | Data | All data | End of key | Close
//
// State is an entity as a whole and gives it an alias, a small number by which the log's next records
// name it. Ride says on what it rides from now on. Place is the difference to the last place, in the
// world or on the vehicle. Change is what property.Values.AppendChange wrote.
// Numbers are little-endian or varints. Version is of all this. Older versions are read, and newer ones
// refused with ErrVersion.
//
// A log that ends in the middle of a frame, as that of a process that was killed, is good up to there.
//
// # Order, and the promises
//
// An entity is named by its id, and each State by (incarnation, hop), as ghosts are. Each hop is on
// one cell, so it is in one log, in the order in which things happened. So who plays several logs
// together takes the newest hop, and lets no older one speak.
//
//   - An offload is Gone on in one log and State in another: the entity goes on.
//   - A teleport out of the space, and destruction, are End. One within the space is as an offload.
//   - A real that is lost is Gone on, if it has a base that brings it back; else it is End.
//   - Every KeyPeriod of game time, at the same boundaries in all logs, a key frame has every entity
//     and all space data anew. What it lacks, which is only so after a gap, counts as Gone on.
//   - A cell that a Sink refuses something writes a key frame when the sink takes again, which says that
//     there was a gap (Head.Gap). What the cell held is Gone on since the chunk before it. What it did not
//     record is counted (status.Counters.Unrecorded).
//   - A passenger and its vehicle may be in logs of two cells: each goes over a line by itself. So where
//     a passenger is follows from what is shown of the vehicle by then. While a vehicle is in no log,
//     as in a gap, its passengers are shown with it for Grace, and then where their last key frame
//     had them.
//   - A log that ends without Close is of a cell that died. What it held is shown for Grace more,
//     unless another log goes on with it.
//
// # Costs
//
// Nothing while a space is not recorded. A cell that records encodes into one buffer of its own. It
// hands chunks of about FlushAt bytes at most to the sink, which must not block.
package recording

import (
	"time"

	"github.com/cellscape/cellscape/internal/spacekey"
)

// Key is the key of the space data that says that a space is recorded. The value is the label, of at
// most MaxLabel bytes.
const Key = spacekey.Recording

const (
	// Version is that of the format. Version 2 has vehicles, and says where gaps are. Logs of version 1
	// are read, too.
	Version = 2
	oldest  = 1
	// KeyPeriod is the game time between two key frames: what a seek has to play at most, and a
	// thousand entities of 200 bytes cost 20 KB/s.
	KeyPeriod = 10 * time.Second
	// Grace is how long an entity is shown of which no log tells any more: as long as ghosts wait for
	// a real to be restored (space.DefaultOrphanGrace).
	Grace = 10 * time.Second
	// Resolution is how exact places are, in metres: off by at most half of this.
	Resolution = 1.0 / 64
	// Turn is how exact directions are, in radians: off by at most half of this.
	Turn = 1.0 / 4096
)

// The bounds of a recording.
const (
	// MaxLabel bounds a label: it becomes part of a file's name.
	MaxLabel = 64
	// MaxProps bounds the properties of one part of one entity, as ghosts do. A larger one is not
	// recorded, and counted.
	MaxProps = 256 << 10
	// MaxPayload bounds a change, and the arguments of a call: the largest property, with its path.
	MaxPayload = 256<<10 + 64
	// MaxData bounds the entries of space data in one record, as many as a space has, with as many
	// removed.
	MaxData = 2 * 4096
	// MaxValue bounds the value of one.
	MaxValue = 16 << 10
	// FlushAt is after how many bytes a cell begins another chunk.
	FlushAt = 256 << 10
	// MaxChunk bounds a chunk: FlushAt, and one record of two parts or of all space data.
	MaxChunk = 2 << 20
	// MaxChunks bounds the chunks of one log, of which a reader notes where they are: five days of ticks.
	MaxChunks = 1 << 22
	// MaxAliases bounds the entities of one log at one time: more than a cell holds.
	MaxAliases = 1 << 20
	// maxApp bounds the name of a CellApp.
	maxApp = 128
)
