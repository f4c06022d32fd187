// Streams, what they are given, events and graphs.
//
// An operation that is enqueued gets its begin and end at once: it begins when its stream has done what came before. What it
// does to memory is done at once too, so that a missing synchronisation never shows stale data, but only in times and the log.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clock.hpp"

namespace emulated {

struct Graph;
struct Event;

struct Stream {
    int device;
    int id;
    int priority = 0;
    // Waits for the default stream, and is waited for.
    bool blocking = true;
    // When it will have done everything that it was given.
    Ns tail = 0;
    std::shared_ptr<Graph> capturing;
    bool began_capture = false;
};

// A step takes no time: it computes values, see arithmetic.py.
enum class Kind { kernel, copy, set, record, wait, step };

struct Operation {
    Kind kind;
    Stream *stream;
    // The mangled name of a kernel, or the kind of another operation.
    std::string name;
    Ns duration = 0;
    // A graph keeps the events of its capture.
    std::shared_ptr<Event> event;
    std::function<void()> effect;
    std::size_t bytes = 0;
    // CUPTI's kind of a copy or a set.
    int copy_kind = 0;
    int memory_kinds[2] = {0, 0};
    unsigned grid[3] = {1, 1, 1};
    unsigned block[3] = {1, 1, 1};
    unsigned correlation = 0;
    // The graph that it is launched with, and its place there, from 1; 0 without a graph.
    unsigned graph = 0;
    unsigned node = 0;
};

struct Event {
    int device;
    bool timing = true;
    bool recorded = false;
    Ns time = 0;
    // The graph in whose capture it was recorded last.
    std::weak_ptr<Graph> captured;
    // Until it is destroyed.
    std::shared_ptr<Event> self;
};

struct Graph {
    unsigned id;
    std::vector<Operation> operations;
    std::vector<std::function<void()>> destructors;
    ~Graph();
};

// The stream of a handle: one that was created, or a device's default stream for the handles that CUDA reserves.
Stream &stream_of(void *handle);
Stream &default_stream(int device);
Stream *new_stream(int device, bool blocking, int priority);
void forget(Stream *stream);

// Gives an operation to a stream, or to the graph that the stream is captured into. Returns when it ends.
Ns enqueue(Operation operation);
// Returns what a graph does to memory, in order. The caller does it without the machine's lock: a step may take Python's.
[[nodiscard]] std::vector<std::function<void()>> launch(const std::shared_ptr<Graph> &graph, Stream &stream,
                                                        unsigned correlation);
// Returns when everything of a device will be done.
Ns tail_of(int device);
// True if something was launched since the last call of this function.
bool launched_since_asked();

// The device of this thread.
int current_device();
void set_current_device(int device);

// Called for each operation that runs, with its begin and end.
extern void (*observer)(const Operation &, Ns begin, Ns end);

}  // namespace emulated
