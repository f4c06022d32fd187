#include "memory.hpp"

#include <sys/mman.h>

#include <map>

#include "settings.hpp"

namespace emulated {
namespace {

// Never destroyed: other threads, and destructors of torch, call until the process is gone.
auto &blocks = *new std::map<const char *, Block>;
auto &used = *new std::map<int, std::size_t>;

}  // namespace

void *allocate(std::size_t size, Place place, int device) {
    if (size == 0) return nullptr;
    if (place == Place::device && used[device] + size > settings().memory_bytes) return nullptr;
    void *found = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return nullptr;
    auto *begin = static_cast<char *>(found);
    blocks[begin] = Block{begin, size, place, device};
    if (place == Place::device) used[device] += size;
    return found;
}

bool release(void *pointer) {
    const auto found = blocks.find(static_cast<char *>(pointer));
    if (found == blocks.end()) return false;
    const Block block = found->second;
    if (block.place == Place::device) used[block.device] -= block.size;
    blocks.erase(found);
    munmap(block.begin, block.size);
    return true;
}

const Block *block_of(const void *pointer) {
    const auto *address = static_cast<const char *>(pointer);
    auto after = blocks.upper_bound(address);
    if (after == blocks.begin()) return nullptr;
    const Block &block = (--after)->second;
    return address < block.begin + block.size ? &block : nullptr;
}

std::size_t used_by(int device) { return used[device]; }

void enlist(void *pointer, std::size_t size) {
    auto *begin = static_cast<char *>(pointer);
    blocks[begin] = Block{begin, size, Place::host, 0};
}

void delist(void *pointer) { blocks.erase(static_cast<char *>(pointer)); }

}  // namespace emulated
