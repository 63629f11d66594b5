
/* One sequence. */
static struct bound project_bound[LAYERS], finish_bound[LAYERS], head_bound;
static float *keys, *values;
static float x[CHUNK * WIDTH], y[CHUNK * WIDTH], q[CHUNK * Q_WIDTH], mixed[CHUNK * Q_WIDTH];
static float cosines[3][CHUNK * PAIRS + 1], sines[3][CHUNK * PAIRS + 1], logits[VOCAB];
/* For layers without and with a window. */
static float masks[2][CHUNK * ROWS];

#if EXPERTS > 0
static struct bound route_bound[LAYERS], merge_bound[LAYERS], expert_bound[LAYERS * EXPERTS];
/* What the experts made of each token; the rows, the shares and the results of one expert. */
static float made[CHUNK * WIDTH], expert_x[CHUNK * WIDTH], expert_y[CHUNK * WIDTH], shares[CHUNK];

/* Adds to `made` what an expert makes of those of `count` tokens that it has a share in. */
static void add_expert(int layer, int expert, int count)
{
    int own[CHUNK], rows = 0;
    memset(expert_x, 0, sizeof expert_x);
    memset(shares, 0, sizeof shares);
    for (int token = 0; token < count; ++token) {
        float share = left[1][token * EXPERTS + expert];
        if (share > 0.0f) {
            memcpy(expert_x + rows * WIDTH, left[0] + token * WIDTH, WIDTH * sizeof(float));
            shares[rows] = share;
            own[rows++] = token;
        }
    }
    if (rows == 0) {
        return;
    }
    const struct stage *stage = &expert_stages[layer * EXPERTS + expert];
    struct bound packed = expert_bound[layer * EXPERTS + expert];
    const void *inputs[3] = {expert_x, shares, rows == 1 ? packed.one : packed.many};
    void *outputs[1] = {expert_y};
    (rows == 1 ? stage->one : stage->many)(inputs, outputs);
    for (int row = 0; row < rows; ++row) {
        float *sum = made + own[row] * WIDTH;
        for (int element = 0; element < WIDTH; ++element) {
            sum[element] = sum[element] + expert_y[row * WIDTH + element];
        }
    }
}

/* Runs a layer with experts behind its attention. */
static void mixture(int layer, int padded, int count)
{
    const struct stage *route = &route_stages[layer], *merge = &merge_stages[layer];
    const void *inputs[3] = {x, mixed, padded == 1 ? route_bound[layer].one : route_bound[layer].many};
    void *outputs[CROSSINGS];
    for (int at = 0; at < CROSSINGS; ++at) {
        outputs[at] = left[at];
    }
    (padded == 1 ? route->one : route->many)(inputs, outputs);
    memset(made, 0, sizeof made);
    for (int expert = 0; expert < EXPERTS; ++expert) {
        add_expert(layer, expert, count);
    }
    const void *behind[MERGED + 2];
    void *finished[1] = {y};
    behind[0] = made;
    for (int at = 0; at < MERGED; ++at) {
        behind[1 + at] = left[merged[at]];
    }
    behind[MERGED + 1] = padded == 1 ? merge_bound[layer].one : merge_bound[layer].many;
    (padded == 1 ? merge->one : merge->many)(behind, finished);
}
#endif

/* Runs `count` tokens, from position `first` on, through all layers; the rows of the last one are in `x`. */
static void pass(const uint32_t *tokens, int count, int first)
{
    int padded = count == 1 ? 1 : CHUNK, choice = 0;
    while (attention[choice].rows < first + count) {
        ++choice;
    }
    int seen = attention[choice].rows;
    memset(x, 0, sizeof x);
    for (int at = 0; at < count; ++at) {
        token_row(tokens[at], (uint64_t)(FIRST_POSITION + first + at), x + at * WIDTH);
    }
    int window = 0;
    for (int layer = 0; layer < LAYERS; ++layer) {
        window = layers[layer].window > 0 ? layers[layer].window : window;
    }
    for (int at = 0; at < padded; ++at) {
        for (int turning = 0; turning < 3; ++turning) {
            rotation(turning, (uint32_t)(first + at), cosines[turning] + at * PAIRS, sines[turning] + at * PAIRS);
        }
        for (int other = 0; other < seen; ++other) {
            int is_before = other <= first + at;
            int is_near = is_before && (window == 0 || first + at - other < window);
            uint32_t bits = is_before ? 0 : 0xff800000u, near_bits = is_near ? 0 : 0xff800000u;
            memcpy(&masks[0][at * seen + other], &bits, 4);
            memcpy(&masks[1][at * seen + other], &near_bits, 4);
        }
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        float *k = keys + (size_t)layer * ROWS * KV_WIDTH, *v = values + (size_t)layer * ROWS * KV_WIDTH;
        float *new_k = k + (size_t)first * KV_WIDTH, *new_v = v + (size_t)first * KV_WIDTH;
        size_t unused = sizeof(float) * (size_t)(padded - count) * KV_WIDTH;
        int turning = layers[layer].turning;
        void *projecting = padded == 1 ? project_bound[layer].one : project_bound[layer].many;
        void *finishing = padded == 1 ? finish_bound[layer].one : finish_bound[layer].many;
        const void *rotated[4] = {x, cosines[turning], sines[turning], projecting};
        const void *straight[2] = {x, projecting};
        void *projected[3] = {q, new_k, new_v};
        const struct stage *project = &project_stages[layer], *finish = &finish_stages[layer];
        (padded == 1 ? project->one : project->many)(PAIRS > 0 ? rotated : straight, projected);
        memset(new_k + (size_t)count * KV_WIDTH, 0, unused);
        memset(new_v + (size_t)count * KV_WIDTH, 0, unused);
        const void *looked[5] = {q, k, v, masks[layers[layer].window > 0], NULL};
        void *found[1] = {mixed};
        (padded == 1 ? attention[choice].one : attention[choice].many)(looked, found);
#if EXPERTS > 0
        if (finish->one == NULL) {
            mixture(layer, padded, count);
            memcpy(x, y, sizeof x);
            continue;
        }
#endif
        const void *behind[3] = {x, mixed, finishing};
        void *finished[1] = {y};
        (padded == 1 ? finish->one : finish->many)(behind, finished);
        memcpy(x, y, sizeof x);
    }
}

/* The logits behind row `row` of `x`. */
static void head(int row)
{
    const void *inputs[2] = {x + row * WIDTH, head_bound.one};
    void *outputs[1] = {logits};
    head_stage.one(inputs, outputs);
}

static uint32_t largest(void)
{
    uint32_t best = 0;
    float most = 0.0f;
    int has_one = 0;
    for (uint32_t token = 0; token < VOCAB; ++token) {
        if (logits[token] == logits[token] && (!has_one || logits[token] > most)) {
            best = token;
            most = logits[token];
            has_one = 1;
        }
    }
    return best;
}

static int usage(const char *program)
{
    fprintf(stderr,
        "usage: %s TOKENS COUNT (FILE... | --seed=SEED) [--logits=OUT]\n"
        "Goes on from TOKENS, such as 1,2,3, with COUNT tokens, each the most likely one.\n"
        "FILE...: %d weight file(s); --seed: made-up weights; --logits: the f32 bits that tokens came from.\n",
        program, FILES);
    return 2;
}

int main(int count, char **words)
{
    static uint32_t tokens[CAPACITY + 1];
    int length, opened = 0;
    FILE *out = NULL;
    if (count < 4) {
        return usage(words[0]);
    }
    if (MIND_LACKS_CPU) {
        fprintf(stderr, "error: this processor lacks AVX2 or FMA; compile with -DMIND_ANY_CPU\n");
        return 1;
    }
    length = parse_tokens(words[1], tokens);
    if (length < 0) {
        return 1;
    }
    long wanted = strtol(words[2], NULL, 10);
    if (length == 0 || wanted < 1 || wanted > CAPACITY + 1 - length) {
        fprintf(stderr, "error: %d tokens and COUNT more do not fit a cache for %d\n", length, CAPACITY);
        return 1;
    }
    for (int at = 3; at < count; ++at) {
        if (strncmp(words[at], "--seed=", 7) == 0) {
            has_seed = 1;
            seed = strtoull(words[at] + 7, NULL, 10);
        } else if (strncmp(words[at], "--logits=", 9) == 0) {
            out = fopen(words[at] + 9, "wb");
            if (out == NULL) {
                fprintf(stderr, "error: %s cannot be written\n", words[at] + 9);
                return 1;
            }
        } else if (opened < FILES && words[at][0] != '-') {
            files[opened] = fopen(words[at], "rb");
            if (files[opened++] == NULL) {
                fprintf(stderr, "error: %s cannot be read\n", words[at]);
                return 1;
            }
        } else {
            return usage(words[0]);
        }
    }
    if (!has_seed && opened != FILES) {
        return usage(words[0]);
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        project_bound[layer] = bound(&project_stages[layer]);
        finish_bound[layer] = bound(&finish_stages[layer]);
#if EXPERTS > 0
        route_bound[layer] = bound(&route_stages[layer]);
        merge_bound[layer] = bound(&merge_stages[layer]);
        for (int at = layer * EXPERTS; at < (layer + 1) * EXPERTS; ++at) {
            expert_bound[at] = bound(&expert_stages[at]);
        }
#endif
    }
    head_bound = bound(&head_stage);
    keys = room(sizeof(float) * (uint64_t)LAYERS * ROWS * KV_WIDTH);
    values = room(sizeof(float) * (uint64_t)LAYERS * ROWS * KV_WIDTH);
    clock_t started = clock();
    int rows = 0;
    for (int first = 0; first < length; first += rows) {
        rows = length - first < CHUNK ? length - first : CHUNK;
        pass(tokens + first, rows, first);
    }
    clock_t prefilled = clock();
    int status = 0;
    for (long at = 0; at < wanted; ++at) {
        head(at == 0 ? rows - 1 : 0);
        if (out != NULL && fwrite(logits, sizeof(float), VOCAB, out) != VOCAB) {
            status = 1;
        }
        uint32_t token = largest();
        printf(at + 1 == wanted ? "%u\n" : "%u,", (unsigned)token);
        if (at + 1 < wanted) {
            pass(&token, 1, length + (int)at);
        }
    }
    clock_t done = clock();
    fprintf(stderr, "prefill %.1f tokens/s, decode %.1f tokens/s\n",
        length * (double)CLOCKS_PER_SEC / ((double)(prefilled - started) + 1.0),
        (double)wanted * (double)CLOCKS_PER_SEC / ((double)(done - prefilled) + 1.0));
    for (int layer = 0; layer < LAYERS; ++layer) {
        unbind(project_bound[layer]);
        unbind(finish_bound[layer]);
#if EXPERTS > 0
        unbind(route_bound[layer]);
        unbind(merge_bound[layer]);
        for (int at = layer * EXPERTS; at < (layer + 1) * EXPERTS; ++at) {
            unbind(expert_bound[at]);
        }
#endif
    }
    unbind(head_bound);
    free(keys);
    free(values);
    for (int at = 0; at < opened; ++at) {
        fclose(files[at]);
    }
    if (out != NULL && fclose(out) != 0) {
        status = 1;
    }
    return status;
}
