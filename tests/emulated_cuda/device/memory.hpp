// Memory of devices, and of the host as devices see it: all of it is the process's own, so that a copy is a copy.
#pragma once

#include <cstddef>

namespace emulated {

enum class Place { host, device, managed };

struct Block {
    char *begin = nullptr;
    std::size_t size = 0;
    Place place = Place::device;
    int device = 0;
};

// Returns zeroed memory, or nothing where a device has none left.
void *allocate(std::size_t size, Place place, int device);
// Returns whether there was such a block.
bool release(void *pointer);
// The block that an address is in; nothing for memory that CUDA does not know.
const Block *block_of(const void *pointer);
std::size_t used_by(int device);
// A host's memory that is registered, and no more.
void enlist(void *pointer, std::size_t size);
void delist(void *pointer);

}  // namespace emulated
